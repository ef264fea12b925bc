// Rejudge: judges accepted kernels again on other tasks than their own. The tasks have the same
// composition with other sizes, other distributions of inputs and more trials. A kernel that fails
// was accepted wrongly, or works only for the sizes of its task. The reverse also works: a refused
// kernel that is accepted on all these tasks was refused wrongly.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/task.h"
#include "data/verdict.h"
#include "gym/api/judge.h"

namespace tritonsmith::eval {

struct Suspect {
  std::string origin;  // task and record of the first judgement
  std::string kernel;
  std::vector<Task> tasks;  // tasks to try; the first is the kernel's own task
};

struct Refusal {
  std::string origin;
  Verdict verdict;  // names the task on which it failed
};

struct Rejudgement {
  int kernels = 0;
  int verdicts = 0;
  int faults = 0;  // verdicts among them that ended in an infrastructure fault: kernels not judged
  std::vector<Refusal> refusals;
  // Rules that only warn in training, such as several entry points, hooks, streams and clocks: rule
  // -> origins of the kernels that it found.
  std::map<std::string, std::set<std::string>> warnings;
};

struct RejudgeOptions {
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 12;
  // Uses stored verdicts of an earlier rejudgement on the same tasks with the same number of
  // trials.
  bool use_store = false;
};

// Fails if the gym is broken: if it returns no verdict, or only infrastructure faults in a row.
Result<Rejudgement> rejudge(std::span<const Suspect> suspects, const RejudgeOptions& options,
                            gym::api::Judge& judge);

struct Acquittals {
  int kernels = 0;
  int verdicts = 0;
  // Origins of kernels that are accepted on their own task, and of those among them that are
  // accepted on all tasks.
  std::vector<std::string> on_their_task, on_all;
};

// Judges refused kernels again on their own task, and the accepted ones on the other tasks. Fails
// like `rejudge`.
Result<Acquittals> retry_refused(std::span<const Suspect> suspects, const RejudgeOptions& options,
                                 gym::api::Judge& judge);

}  // namespace tritonsmith::eval
