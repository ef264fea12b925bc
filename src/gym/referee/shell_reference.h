// ShellReference: asks the reference shell, through the client at the other end of the referee's
// socket, which holds the task's source and passes tensors on (gym/schedule/reference_relay.h).
// Messages are in gym/guest/shell_forward.py. Used in mid-job by the thread that serves the socket.
#pragma once

#include "gym/referee/reference_source.h"

namespace tritonsmith::gym {

class ShellReference : public ReferenceSource {
 public:
  explicit ShellReference(int socket) : socket_(socket) {}

  tl::expected<ReferenceMode, Stop> prepare() override;
  tl::expected<ReferenceAnswer, Stop> run(const ReferenceQuestion& question) override;

 private:
  int socket_;
};

}  // namespace tritonsmith::gym
