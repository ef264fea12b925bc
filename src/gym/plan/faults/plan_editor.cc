#include "gym/plan/faults/plan_editor.h"

#include <algorithm>

#include "base/check.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::faults {

void replace_tensor(Value& value, int tensor, int with) {
  if (auto* reference = std::get_if<TensorRef>(&value.data)) {
    if (reference->index == tensor) reference->index = with;
  } else if (auto* list = std::get_if<List>(&value.data)) {
    for (Value& item : list->items) replace_tensor(item, tensor, with);
  } else if (auto* tuple = std::get_if<Tuple>(&value.data)) {
    for (Value& item : tuple->items) replace_tensor(item, tensor, with);
  } else if (auto* dict = std::get_if<Dict>(&value.data)) {
    for (DictEntry& item : dict->items) replace_tensor(item.value, tensor, with);
  }
}

void replace_in_forward(Plan& plan, int tensor, int with) {
  for (PlanStep& step : plan.steps) {
    auto* each = std::get_if<AtenCall>(&step.action);
    if (each == nullptr || step.phase != Phase::forward) continue;
    for (Value& value : each->args) replace_tensor(value, tensor, with);
    for (auto& [name, value] : each->kwargs) replace_tensor(value, tensor, with);
    std::ranges::replace(each->outputs, tensor, with);
  }
  replace_tensor(plan.outputs, tensor, with);
}

Value whole_list(const std::vector<std::int64_t>& values) {
  List list;
  for (const std::int64_t value : values) list.items.push_back(whole(value));
  return Value{std::move(list)};
}

PlanEditor::PlanEditor(const Plan& plan, std::size_t step) : plan_(plan), step_(step) {
  CHECK(step < plan.steps.size() && plan.steps[step].phase == Phase::forward &&
            std::holds_alternative<AtenCall>(plan.steps[step].action),
        "step {} calls no operator of forward", step);
}

int PlanEditor::argument(std::size_t k) {
  if (k >= call().args.size()) return -1;
  const auto* reference = std::get_if<TensorRef>(&call().args[k].data);
  if (reference == nullptr) return -1;
  const int index = reference->index;
  if (std::ranges::find(call().outputs, index) == call().outputs.end()) return index;
  const auto known = snapshots_.find(index);
  if (known != snapshots_.end()) return known->second;
  const PlanTensor& like = tensor(index);
  const int copy = before("aten::clone", {tensor_value(index)}, like.shape, like.dtype);
  snapshots_.emplace(index, copy);
  return copy;
}

int PlanEditor::declare(std::vector<std::int64_t> shape, DType dtype) {
  PlanTensor made;
  made.dtype = dtype;
  made.shape = std::move(shape);
  made.stride.resize(made.shape.size());
  std::int64_t elements = 1;
  for (std::size_t d = made.shape.size(); d-- > 0;) {
    made.stride[d] = elements;
    elements *= std::max<std::int64_t>(made.shape[d], 1);
  }
  int storage = 0;
  for (const PlanTensor& each : plan_.tensors) storage = std::max(storage, each.storage + 1);
  made.storage = storage;
  made.storage_bytes = elements * bytes_of(dtype);
  plan_.tensors.push_back(std::move(made));
  return static_cast<int>(plan_.tensors.size()) - 1;
}

int PlanEditor::make(std::vector<AtenCall>& calls, int made, std::string op,
                     std::vector<Value> args, Keywords keywords) {
  calls.push_back({.op = std::move(op),
                   .args = std::move(args),
                   .kwargs = std::move(keywords),
                   .outputs = {made}});
  return made;
}

int PlanEditor::before(std::string op, std::vector<Value> args, std::vector<std::int64_t> shape,
                       DType dtype, Keywords keywords) {
  return make(before_, declare(std::move(shape), dtype), std::move(op), std::move(args),
              std::move(keywords));
}

int PlanEditor::after(std::string op, std::vector<Value> args, std::vector<std::int64_t> shape,
                      DType dtype, Keywords keywords) {
  return make(after_, declare(std::move(shape), dtype), std::move(op), std::move(args),
              std::move(keywords));
}

int PlanEditor::after_like(int like, std::string op, std::vector<Value> args, Keywords keywords) {
  const PlanTensor form = tensor(like);
  return after(std::move(op), std::move(args), form.shape, form.dtype, std::move(keywords));
}

void PlanEditor::overwrite_result(int values) {
  make(after_, result(), "aten::copy_", {tensor_value(result()), tensor_value(values)}, {});
}

void PlanEditor::replace_operand(int tensor, int with) { replace_in_forward(plan_, tensor, with); }

Plan PlanEditor::finish() && {
  const int line = plan_.steps[step_].line;
  const auto steps_of = [line](std::vector<AtenCall>& calls) {
    std::vector<PlanStep> steps;
    for (AtenCall& each : calls)
      steps.push_back({.phase = Phase::forward, .line = line, .action = std::move(each)});
    return steps;
  };
  const std::vector<PlanStep> last = steps_of(after_), first = steps_of(before_);
  const auto at = static_cast<std::ptrdiff_t>(step_);
  plan_.steps.insert(plan_.steps.begin() + at + 1, last.begin(), last.end());
  plan_.steps.insert(plan_.steps.begin() + at, first.begin(), first.end());
  return std::move(plan_);
}

Plan as_candidate(Plan plan) {
  plan.role = PlanRole::candidate;
  plan.first_call_only = false;
  std::erase_if(plan.steps, [](const PlanStep& step) { return step.phase == Phase::inputs; });
  return plan;
}

std::size_t first_operator_of_forward(const Plan& plan) {
  const auto at = std::ranges::find_if(plan.steps, [](const PlanStep& step) {
    return step.phase == Phase::forward && std::holds_alternative<AtenCall>(step.action);
  });
  return static_cast<std::size_t>(at - plan.steps.begin());
}

}  // namespace tritonsmith::gym::plan::faults
