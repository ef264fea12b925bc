#include "gym/referee/other_orders.h"

#include "gym/plan/analysis/cost/plan_needs.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/run_trials.h"
#include "gym/trial/findings/kernel_use.h"
#include "gym/trial/findings/stream_order.h"

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

// On the CPU, other trials have run backwards and interleaved already. An update that gets lost between
// two atomics shows itself in few of the shuffled orders.
std::vector<language::ProgramOrder::Kind> orders_to_try(bool on_gpu, const plan::Plan& candidate) {
  using enum language::ProgramOrder::Kind;
  std::vector<language::ProgramOrder::Kind> kinds;
  if (trial::programs_may_meet(candidate)) {
    if (on_gpu) kinds = {backwards, interleaved};
    constexpr int shuffles = 3;
    if (trial::has_atomics(candidate)) kinds.insert(kinds.end(), shuffles, shuffled);
  }
  if (trial::lanes_may_meet(candidate)) kinds.push_back(lanes_apart);
  return kinds;
}

}  // namespace

bool run_in_other_orders(Equipment& equipment, const TrialContext& context, RefereeReport& report) {
  const bool on_gpu = equipment.gpu != nullptr;
  const std::vector<language::ProgramOrder::Kind> kinds = orders_to_try(on_gpu, context.candidate);
  if (kinds.empty() || (on_gpu && equipment.evaluator == nullptr) ||
      context.python_reference != nullptr ||
      plan::analysis::needed_bytes(context.task, context.candidate) > kMostBytes)
    return true;
  Equipment& evaluator = on_gpu ? *equipment.evaluator : equipment;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    trial::TrialConfig config = context.config_of(0, trial::Perturbation::plain);
    config.order = {
        .kind = kinds[k],
        .seed = trial::trial_seed(context.job.secret, "programs", static_cast<int>(k) + 1)};
    config.deadline = Deadline::after(kPatience);
    config.memory_bytes = kMostMemory;
    config.fused = nullptr;
    const trial::TrialResult result = run_ordered_trial(evaluator, config);
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
