// Describes how the work of a guest or of a compile worker ends without a result. The pools that
// start these processes establish such a failure themselves, because a guest could lie about its
// own end.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "data/verdict.h"

namespace tritonsmith::gym::sandbox {

// `stage` is how far the candidate came before it failed. This folder makes the classes timeout,
// killed (out of memory, as a rule), crashed (a signal), exited (it ended its process),
// output_flood and bad_reply. The guest's capture and the compiler make others; see
// docs/verdict.md.
struct CandidateFailure {
  Stage stage = Stage::inspected;
  VerdictError error;
  bool undisturbed = false;  // a timeout of a guest that had a core nearly all the time
};
// A failure of the gym, which already retried once.
struct InfrastructureFault {
  std::string message;
};

using StageTimes = std::vector<std::pair<std::string, double>>;  // milliseconds, in order

// Reads the failure in a guest's reply. A stage that the guest claims counts only up to `highest`.
CandidateFailure failure_from_guest(const Json& reply, Stage highest);

}  // namespace tritonsmith::gym::sandbox
