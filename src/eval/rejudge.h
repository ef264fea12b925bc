// Rejudge: judges kernels again that were accepted once, on other tasks than the ones they were
// written for: the same composition at other sizes, with inputs drawn otherwise, with more trials.
// Whoever is refused now was accepted wrongly, or knows only the sizes it was shown. And the other
// way round: whoever was refused, and is accepted now on all of them, was refused wrongly.
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
  std::string origin;  // where it was accepted, or refused: task and record
  std::string kernel;
  std::vector<Task> tasks;  // what it is tried on now; the first is the one it was written for
};

struct Refusal {
  std::string origin;
  Verdict verdict;  // names the task it failed on
};

struct Rejudgement {
  int kernels = 0;
  int verdicts = 0;
  std::vector<Refusal> refusals;
  // Rules that training does not reject by, but that say something against a kernel (several entry
  // points, hooks, streams, clocks, ...): the origins of the kernels they found.
  std::map<std::string, std::set<std::string>> warnings;
};

struct RejudgeOptions {
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 12;
  // Takes verdicts that an earlier rejudgement reached on the same tasks with as many trials.
  bool use_store = false;
};

// Fails when the gym is broken; a single infrastructure fault counts as a refusal, so that nothing
// passes unseen.
Result<Rejudgement> rejudge(std::span<const Suspect> suspects, const RejudgeOptions& options,
                            gym::api::Judge& judge);

struct Acquittals {
  int kernels = 0;
  int verdicts = 0;
  // Origins of those accepted on the task they were written for, and, of these, on all their tasks.
  std::vector<std::string> on_their_task, on_all;
};

// Tries suspects that were refused on the first of their tasks, and who is accepted there on the
// others. Fails like `rejudge`.
Result<Acquittals> retry_refused(std::span<const Suspect> suspects, const RejudgeOptions& options,
                                 gym::api::Judge& judge);

}  // namespace tritonsmith::eval
