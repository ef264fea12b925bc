#include "gym/plan/analysis/named_epsilons.h"

#include <limits>

#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

bool is_of_float32(const Plan& task, const AtenCall& call) {
  if (call.args.empty()) return false;
  const auto* tensor = std::get_if<TensorRef>(&call.args[0].data);
  return tensor != nullptr &&
         task.tensors.at(static_cast<std::size_t>(tensor->index)).dtype == DType::float32;
}

}  // namespace

Plan with_named_epsilons(Plan task) {
  for (PlanStep& step : task.steps) {
    auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || !is_of_float32(task, *call)) continue;
    const auto* epsilon = operators::number_argument(operators::aten_base_name(call->op),
                                                     operators::Meaning::epsilon);
    if (epsilon == nullptr || !epsilon->follows_dtype) continue;
    const std::size_t position = epsilon->position;
    const bool is_given =
        call->args.size() > position && !std::holds_alternative<None>(call->args[position].data);
    if (is_given || !call->kwargs.empty()) continue;
    call->args.resize(position + 1);
    call->args[position] = Value{static_cast<double>(std::numeric_limits<float>::epsilon())};
  }
  return task;
}

}  // namespace tritonsmith::gym::plan::analysis
