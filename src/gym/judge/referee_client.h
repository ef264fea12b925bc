// RefereeClient: the interface between judging and the referees that run plans. A job and its
// outcome are data. A failure of the referee itself is distinct from a failure of a plan. One
// thread uses each client.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "base/clock.h"
#include "data/calibration.h"
#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym::judge {

// timeout: no answer came within the job's budget and a grace. infrastructure: no referee could
// start, or it died of something that no plan does. misjudges: each replacement misjudged a known
// plan, so nothing may be judged here.
struct RefereeFailure {
  enum class Kind { timeout, infrastructure, misjudges };
  Kind kind = Kind::infrastructure;
  std::string message;
};
using RefereeOutcome = std::variant<referee::RefereeReport, RefereeFailure>;

class RefereeClient {
 public:
  virtual ~RefereeClient() = default;
  // `task_plan` is the plan that job.task_key names. It is sent only if the referee lacks it.
  virtual RefereeOutcome judge(const referee::RefereeJob& job, const std::string& task_plan) = 0;
  // Measures how fast the referee's GPU is now. Fails where there is none, or where it is busy.
  virtual Result<Calibration> calibrate() { return fail("this referee has no GPU"); }
  // Ends a judge() under way, and every later one, at once with an infrastructure failure. Any
  // thread may call it, once no one waits for verdicts any more.
  virtual void interrupt() = 0;
  // Returns how often another process replaced the one that judged. Any thread may call it.
  virtual int restarts() const { return 0; }
};

using MakeReferee = std::function<std::unique_ptr<RefereeClient>()>;

}  // namespace tritonsmith::gym::judge
