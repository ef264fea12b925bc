// RefereeClient: the seam between judging and whoever runs plans. A job is data and so is its
// outcome; what goes wrong with a referee itself is told apart from what a plan did. Each client is
// used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "base/clock.h"
#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym::judge {

// timeout: no answer within the job's budget and a grace. infrastructure: no referee could be had,
// or it died of something that no plan does. misjudges: each that took its place misjudged what is
// known, so that nothing may be judged here.
struct RefereeFailure {
  enum class Kind { timeout, infrastructure, misjudges };
  Kind kind = Kind::infrastructure;
  std::string message;
};
using RefereeOutcome = std::variant<referee::RefereeReport, RefereeFailure>;

class RefereeClient {
 public:
  virtual ~RefereeClient() = default;
  // `task_plan` is the plan that job.task_key names; it is handed over only when the referee lacks
  // it.
  virtual RefereeOutcome judge(const referee::RefereeJob& job, const std::string& task_plan) = 0;
  // From any thread: a judge() under way, and every later one, ends at once with an infrastructure
  // failure. Called when nobody waits for verdicts any more.
  virtual void interrupt() = 0;
  // From any thread: times that another process took the place of the one that judged.
  virtual int restarts() const { return 0; }
};

using MakeReferee = std::function<std::unique_ptr<RefereeClient>()>;

}  // namespace tritonsmith::gym::judge
