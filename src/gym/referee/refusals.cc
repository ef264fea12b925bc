#include "gym/referee/refusals.h"

#include "gym/compare/compare.h"
#include "gym/plan/analysis/cost/plan_needs.h"
#include "gym/referee/report_entries.h"
#include "gym/replay/candidate_operators.h"
#include "gym/tensors/scalar_type.h"
#include "gym/trial/findings/kernel_use.h"
#include "gym/trial/findings/stream_order.h"
#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::referee {

std::optional<RefereeReport> beyond_kernelbench(const RefereeJob& job, const plan::Plan& task) {
  if (job.comparison != Comparison::allclose) return std::nullopt;
  std::vector<int> indices = trial::input_tensors(task);
  plan::append_tensors(task.outputs, indices);
  for (const plan::PlanParameter& parameter : task.parameters) indices.push_back(parameter.tensor);
  for (const int index : indices) {
    const auto dtype =
        tensors::scalar_type_of(task.tensors.at(static_cast<std::size_t>(index)).dtype);
    if (compare::precision_of(dtype) != compare::Precision::exact &&
        !compare::is_kernelbenchs(dtype))
      return ended(ErrorClass::not_comparable,
                   fmt::format("the task itself: it holds {}, for which KernelBench has no "
                               "tolerance; compare by budget",
                               tensors::type_name(dtype)),
                   Fault::none);
  }
  return std::nullopt;
}

std::optional<RefereeReport> unsafe(const RefereeJob& job, const plan::Plan& task,
                                    const plan::Plan& candidate) {
  const plan::PlanStep* step = replay::find_unsafe_step(candidate);
  if (step == nullptr) return std::nullopt;
  RefereeReport report =
      ended(ErrorClass::not_evaluable,
            fmt::format("{} is none of the operators that the judge runs for a candidate",
                        std::get<plan::AtenCall>(step->action).op),
            Fault::none);
  report.error->line = step->line;
  add_findings(report, trial::find_evidence(candidate, nullptr, task, job.policy));
  return report;
}

std::optional<RefereeReport> racing(const plan::Plan& candidate) {
  const std::vector<Finding> races = trial::find_narrow_atomics(candidate);
  if (races.empty()) return std::nullopt;
  RefereeReport report = ended(ErrorClass::race, races[0].message, Fault::candidate);
  report.error->line = races[0].line;
  return report;
}

std::optional<RefereeReport> racing_streams(const plan::Plan& candidate) {
  const std::optional<VerdictError> race = trial::find_stream_races(candidate).certain;
  if (!race) return std::nullopt;
  RefereeReport report = ended(race->error_class, race->message, Fault::candidate);
  report.error->line = race->line;
  return report;
}

bool has_room_for_oracle(const RefereeJob& job, const plan::Plan& task,
                         const device::Device& device) {
  return plan::analysis::needed_bytes_with_oracle(task) <=
         static_cast<double>(device.capacity(job.budget.memory_bytes));
}

std::optional<RefereeReport> too_large(const RefereeJob& job, const plan::Plan& task,
                                       const plan::Plan& candidate, const device::Device& device) {
  const auto capacity = static_cast<double>(device.capacity(job.budget.memory_bytes));
  const double needed =
      plan::analysis::needed_bytes(task, candidate) +
      (has_room_for_oracle(job, task, device) ? plan::analysis::oracle_bytes(task) : 0);
  if (needed <= capacity) return std::nullopt;
  RefereeReport report = ended(ErrorClass::too_large_to_evaluate,
                               fmt::format("needs {:.1f} GiB of memory, the budget is {:.1f}",
                                           needed / (1 << 30), capacity / (1 << 30)),
                               Fault::none);
  add_findings(report, trial::find_evidence(candidate, nullptr, task, job.policy));
  return report;
}

}  // namespace tritonsmith::gym::referee
