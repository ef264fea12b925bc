#include "gym/referee/other_orders.h"

#include "gym/plan/analysis/plan_needs.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/run_trials.h"
#include "gym/trial/kernel_use.h"
#include "gym/trial/stream_order.h"

namespace tritonsmith::gym::referee {
namespace {

constexpr double kMostBytes = 64 << 20;        // of the candidate's and the task's tensors
constexpr std::int64_t kMostMemory = 1 << 30;  // while a trial runs
constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(1);

bool tells_of_memory(const trial::TrialResult& result) {
  const VerdictError* error = result.candidate_stop ? &result.candidate_stop->error
                              : result.difference   ? &*result.difference
                                                    : nullptr;
  return error != nullptr && (error->error_class == ErrorClass::race ||
                              error->error_class == ErrorClass::out_of_bounds);
}

}  // namespace

bool run_in_other_orders(Equipment& equipment, const TrialContext& context, RefereeReport& report) {
  if (equipment.evaluator == nullptr || context.python_reference != nullptr ||
      !trial::programs_may_meet(context.candidate) ||
      plan::analysis::needed_bytes(context.task, context.candidate) > kMostBytes)
    return true;
  for (const int order : {1, 2}) {  // backwards, interleaved
    trial::TrialConfig config = context.config_of(0, trial::Perturbation::plain);
    config.order = context.order_of(order);
    config.deadline = Deadline::after(kPatience);
    config.memory_bytes = kMostMemory;
    config.fused = nullptr;
    const trial::TrialResult result = run_ordered_trial(*equipment.evaluator, config);
    if (!tells_of_memory(result)) continue;
    add_time(report, "evaluate", result.candidate_ms);
    take_failure(report, result);
    return false;
  }
  return true;
}

bool run_in_stream_orders(Equipment& equipment, const TrialContext& context,
                          RefereeReport& report) {
  for (const trial::SuspectedRace& race : trial::find_stream_races(context.candidate).suspected) {
    const plan::Plan reordered = trial::in_step_order(context.candidate, race.order);
    const TrialContext of_order = context.with_candidate(reordered);
    const trial::TrialResult result =
        run_usable_trial(equipment, of_order.config_of(0, trial::Perturbation::plain), {});
    add_trial(report, result);
    if (!ends_job(report, result, context.deadline)) continue;
    if (report.fault == Fault::candidate) report.error = race.error;
    return false;
  }
  return true;
}

}  // namespace tritonsmith::gym::referee
