#include "eval/rejudge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "gym/api/fault_streak.h"

namespace tritonsmith::eval {
namespace {

// One job: a suspect and one of its tasks.
struct Trial {
  std::size_t suspect = 0, task = 0;
};

class Rejudging {
 public:
  Rejudging(std::span<const Suspect> suspects, const RejudgeOptions& options,
            gym::api::Judge& judge)
      : suspects_(suspects), options_(options), judge_(judge), progress_("rejudge", count()) {
    for (std::size_t s = 0; s < suspects.size(); ++s)
      for (std::size_t t = 0; t < suspects[s].tasks.size(); ++t) trials_.push_back({s, t});
    report_.kernels = static_cast<int>(suspects.size());
    faults_ = gym::api::FaultStreak(
        std::clamp(static_cast<int>(trials_.size()), 1, gym::api::kFaultsInARow));
  }

  Result<Rejudgement> run() {
    for (std::size_t id = 0; id < trials_.size(); ++id) {
      const Suspect& suspect = suspects_[trials_[id].suspect];
      TRY(judge_.submit({.id = id,
                         .task = suspect.tasks[trials_[id].task],
                         .kernel = suspect.kernel,
                         .policy = options_.policy,
                         .backend = options_.backend,
                         .trials = options_.trials,
                         .use_store = options_.use_store}));
      TRY(take_all(Deadline::after(Milliseconds(0))));
    }
    TRY(take_all(Deadline::never()));
    if (static_cast<std::size_t>(report_.verdicts) < trials_.size())
      return fail_by_fault("the gym returned {} verdicts on {} jobs", report_.verdicts,
                           trials_.size());
    return std::move(report_);
  }

 private:
  std::size_t count() const {
    std::size_t count = 0;
    for (const Suspect& suspect : suspects_) count += suspect.tasks.size();
    return count;
  }

  // The linter's findings about the task say nothing against the kernel.
  void note_warnings(const std::string& origin, const Verdict& verdict) {
    for (const Finding& finding : verdict.findings)
      if (finding.severity == Severity::warn && !finding.rule.starts_with("task_"))
        report_.warnings[finding.rule].insert(origin);
  }

  // Takes all verdicts that arrive by the deadline.
  Status take_all(Deadline deadline) {
    while (static_cast<std::size_t>(report_.verdicts) < trials_.size()) {
      TRY_ASSIGN(auto judged, judge_.next(deadline));
      if (!judged) return ok();
      TRY(faults_.take(judged->verdict));
      ++report_.verdicts;
      note_warnings(suspects_[trials_[judged->id].suspect].origin, judged->verdict);
      if (judged->verdict.fault == Fault::infrastructure)
        ++report_.faults;
      else if (!judged->verdict.accepted)
        report_.refusals.push_back({.origin = suspects_[trials_[judged->id].suspect].origin,
                                    .verdict = std::move(judged->verdict)});
      progress_.advance_to(static_cast<std::size_t>(report_.verdicts),
                           fmt::format("refused {}", report_.refusals.size()));
    }
    return ok();
  }

  std::span<const Suspect> suspects_;
  const RejudgeOptions& options_;
  gym::api::Judge& judge_;
  std::vector<Trial> trials_;
  gym::api::FaultStreak faults_{gym::api::kFaultsInARow};
  Rejudgement report_;
  Progress progress_;
};

// Returns the suspects that no verdict of the report refused.
std::vector<Suspect> unrefused(std::span<const Suspect> suspects, const Rejudgement& report) {
  std::set<std::string> refused;
  for (const Refusal& refusal : report.refusals) refused.insert(refusal.origin);
  std::vector<Suspect> left;
  for (const Suspect& suspect : suspects)
    if (!refused.contains(suspect.origin)) left.push_back(suspect);
  return left;
}

std::vector<std::string> origins(std::span<const Suspect> suspects) {
  std::vector<std::string> names;
  for (const Suspect& suspect : suspects) names.push_back(suspect.origin);
  return names;
}

// A kernel whose verdict ended in a fault is neither refused nor accepted.
Result<Rejudgement> rejudge_all(std::span<const Suspect> suspects, const RejudgeOptions& options,
                                gym::api::Judge& judge) {
  TRY_ASSIGN(Rejudgement report, rejudge(suspects, options, judge));
  if (report.faults == 0) return report;
  return fail_by_fault("{} of {} verdicts ended in a fault of the gym", report.faults,
                       report.verdicts);
}

}  // namespace

Result<Rejudgement> rejudge(std::span<const Suspect> suspects, const RejudgeOptions& options,
                            gym::api::Judge& judge) {
  return Rejudging(suspects, options, judge).run();
}

Result<Acquittals> retry_refused(std::span<const Suspect> suspects, const RejudgeOptions& options,
                                 gym::api::Judge& judge) {
  std::vector<Suspect> tried(suspects.begin(), suspects.end());
  for (Suspect& suspect : tried) suspect.tasks.resize(1);
  TRY_ASSIGN(const Rejudgement own, rejudge_all(tried, options, judge));
  std::vector<Suspect> others = unrefused(suspects, own);
  Acquittals found{.kernels = own.kernels, .on_their_task = origins(others)};
  for (Suspect& suspect : others) suspect.tasks.erase(suspect.tasks.begin());
  TRY_ASSIGN(const Rejudgement rest, rejudge_all(others, options, judge));
  found.on_all = origins(unrefused(others, rest));
  found.verdicts = own.verdicts + rest.verdicts;
  return found;
}

}  // namespace tritonsmith::eval
