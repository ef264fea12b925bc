// PythonReferenceSource: asks the Python reference through the client at the other end of the
// referee's socket. The client holds the task's source and relays tensors
// (gym/judge/reference_relay.h), and gym/guest/reference/reference_forward.py describes the
// messages. The thread that serves the socket uses this during a job.
#pragma once

#include "gym/trial/reference_source.h"

namespace tritonsmith::gym::referee {

class PythonReferenceSource : public trial::ReferenceSource {
 public:
  explicit PythonReferenceSource(int socket) : socket_(socket) {}

  tl::expected<trial::ReferenceMode, replay::Stop> prepare() override;
  tl::expected<trial::ReferenceAnswer, replay::Stop> run(
      const trial::ReferenceQuestion& question) override;

 private:
  int socket_;
};

}  // namespace tritonsmith::gym::referee
