// ShellReference: asks the reference shell, through the client at the other end of the referee's
// socket, which holds the task's source and passes tensors on (gym/judge/reference_relay.h).
// Messages are in gym/guest/shell_forward.py. Used in mid-job by the thread that serves the socket.
#pragma once

#include "gym/trial/reference_source.h"

namespace tritonsmith::gym::referee {

class ShellReference : public trial::ReferenceSource {
 public:
  explicit ShellReference(int socket) : socket_(socket) {}

  tl::expected<trial::ReferenceMode, replay::Stop> prepare() override;
  tl::expected<trial::ReferenceAnswer, replay::Stop> run(
      const trial::ReferenceQuestion& question) override;

 private:
  int socket_;
};

}  // namespace tritonsmith::gym::referee
