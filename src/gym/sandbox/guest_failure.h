// How the work of a guest or of a compiler worker ends without a result. The pools that start these
// processes establish such a failure themselves; a guest's word about its own fate is never taken.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "data/verdict.h"

namespace tritonsmith::gym::sandbox {

// `stage` is how far the candidate came before it failed. Classes made here: "timeout", "killed"
// (out of memory, as a rule), "crashed" (a signal), "exited" (ended its process), "output_flood",
// "bad_reply"; from the guest's own capture and from the compiler: see docs/verdict.md.
struct CandidateFailure {
  Stage stage = Stage::inspected;
  VerdictError error;
  bool undisturbed = false;  // a timeout in which it had a core nearly all the while
};
// Not the candidate's doing; already retried once.
struct InfrastructureFault {
  std::string message;
};

using StageTimes = std::vector<std::pair<std::string, double>>;  // milliseconds, in order

// What both pools read the same way. The stage that a guest claims counts only up to `highest`.
CandidateFailure failure_from_guest(const Json& reply, Stage highest);

}  // namespace tritonsmith::gym::sandbox
