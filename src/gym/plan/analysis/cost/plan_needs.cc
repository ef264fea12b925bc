#include "gym/plan/analysis/cost/plan_needs.h"

#include <algorithm>
#include <set>

namespace tritonsmith::gym::plan::analysis {
namespace {

// Counts each storage once. A plan may declare too little; ReplayMemory then stops it at its
// budget. This estimate only saves the work of finding out.
double declared_bytes(const Plan& plan) {
  std::set<int> seen;
  double bytes = 0;
  for (const PlanTensor& tensor : plan.tensors)
    if (seen.insert(tensor.storage).second) bytes += static_cast<double>(tensor.storage_bytes);
  return bytes;
}

}  // namespace

double needed_bytes(const Plan& task, const Plan& candidate) {
  return 2 * declared_bytes(task) + declared_bytes(candidate);
}

double lint_bytes(const Plan& task) { return 2 * declared_bytes(task); }

// The float64 replay takes twice the width of float32.
double oracle_bytes(const Plan& task) { return 2 * declared_bytes(task); }

double needed_bytes_with_oracle(const Plan& task) {
  return needed_bytes(task, task) + oracle_bytes(task);
}

Plan without_forward(Plan task, const VerdictError& refusal) {
  std::erase_if(task.steps, [](const PlanStep& step) { return step.phase == Phase::forward; });
  task.kernels.clear();
  task.mutated_inputs.clear();
  task.outputs = Value{None{}};
  task.unplanned =
      fmt::format("line {}: {}: {}", refusal.line, class_name(refusal), refusal.message);
  return task;
}

}  // namespace tritonsmith::gym::plan::analysis
