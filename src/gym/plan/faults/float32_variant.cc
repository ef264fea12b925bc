#include "gym/plan/faults/float32_variant.h"

#include <algorithm>
#include <set>

#include "gym/plan/faults/plan_editor.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::faults {
namespace {

bool has_16_bits(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

void widen(Value& value) {
  if (auto* dtype = std::get_if<DType>(&value.data))
    if (has_16_bits(*dtype)) *dtype = DType::float32;
}

bool changes_in_place(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    return step.phase == Phase::forward && call != nullptr &&
           (operators::writes_in_place(call->op) ||
            operators::is(call->op, operators::Trait::running_statistics));
  });
}

PlanStep cast(int from, int to, DType dtype) {
  return {.phase = Phase::forward,
          .action = AtenCall{.op = "aten::_to_copy",
                             .args = {tensor_value(from)},
                             .kwargs = {{"dtype", Value{dtype}}},
                             .outputs = {to}}};
}

// Declares a contiguous tensor of the same shape and another type.
int declare_like(Plan& plan, int tensor, DType dtype) {
  PlanTensor made = plan.tensors.at(static_cast<std::size_t>(tensor));
  std::int64_t elements = 1;
  for (std::size_t d = made.shape.size(); d-- > 0;) {
    made.stride[d] = elements;
    elements *= std::max<std::int64_t>(made.shape[d], 1);
  }
  made.dtype = dtype;
  made.offset = 0;
  made.storage = 0;
  for (const PlanTensor& each : plan.tensors)
    made.storage = std::max(made.storage, each.storage + 1);
  made.storage_bytes = elements * bytes_of(dtype);
  plan.tensors.push_back(std::move(made));
  return static_cast<int>(plan.tensors.size()) - 1;
}

// Returns the 16-bit tensors that forward reads and does not make.
std::set<int> found_operands(const Plan& plan) {
  std::set<int> made, found;
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (step.phase != Phase::forward || call == nullptr) continue;
    std::vector<int> read;
    for (const Value& value : call->args) append_tensors(value, read);
    for (const auto& [name, value] : call->kwargs) append_tensors(value, read);
    for (const int index : read)
      if (!made.contains(index) &&
          has_16_bits(plan.tensors.at(static_cast<std::size_t>(index)).dtype))
        found.insert(index);
    made.insert(call->outputs.begin(), call->outputs.end());
  }
  return found;
}

}  // namespace

std::optional<Plan> in_float32(const Plan& task) {
  const std::size_t start = first_operator_of_forward(task);
  if (start == task.steps.size() || changes_in_place(task)) return std::nullopt;
  const std::set<int> operands = found_operands(task);
  std::vector<int> outputs;
  append_tensors(task.outputs, outputs);
  if (operands.empty()) return std::nullopt;
  std::vector<PlanStep> casts;
  Plan plan = task;
  for (const int index : operands) {
    const int wide = declare_like(plan, index, DType::float32);
    casts.push_back(cast(index, wide, DType::float32));
    replace_in_forward(plan, index, wide);
  }
  for (PlanStep& step : plan.steps) {
    auto* call = std::get_if<AtenCall>(&step.action);
    if (step.phase != Phase::forward || call == nullptr) continue;
    for (Value& value : call->args) widen(value);
    for (auto& [name, value] : call->kwargs) widen(value);
  }
  plan.steps.insert(plan.steps.begin() + static_cast<std::ptrdiff_t>(start), casts.begin(),
                    casts.end());
  for (const int output : std::set<int>(outputs.begin(), outputs.end())) {
    const DType dtype = task.tensors.at(static_cast<std::size_t>(output)).dtype;
    if (!has_16_bits(dtype)) continue;
    const int narrow = declare_like(plan, output, dtype);
    replace_tensor(plan.outputs, output, narrow);
    plan.steps.push_back(cast(output, narrow, dtype));
  }
  return plan;
}

}  // namespace tritonsmith::gym::plan::faults
