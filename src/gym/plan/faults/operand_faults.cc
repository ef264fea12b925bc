// Faults of inputs and weights that a kernel ignores, or takes for what they usually are.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gym/plan/analysis/input_draws.h"
#include "gym/plan/analysis/tensor_names.h"
#include "gym/plan/faults/faults.h"

namespace tritonsmith::gym::plan::faults {
namespace {

struct Operand {
  int tensor = 0;
  std::string name;
  bool is_parameter = false;
};

bool is_read(const Plan& plan, int tensor) {
  return std::ranges::any_of(plan.steps, [&](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) return false;
    std::vector<int> read;
    for (const Value& value : call->args) append_tensors(value, read);
    for (const auto& [name, value] : call->kwargs) append_tensors(value, read);
    return std::ranges::find(read, tensor) != read.end();
  });
}

std::vector<Operand> operands_of(const Plan& plan) {
  std::vector<Operand> all;
  const std::vector<int> inputs = analysis::input_tensors(plan);
  const std::vector<std::string> names = analysis::input_names(plan);
  std::set<int> seen(inputs.begin(), inputs.end());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    all.push_back({.tensor = inputs[k], .name = names[k]});
  for (const PlanParameter& parameter : plan.parameters)
    if (seen.insert(parameter.tensor).second)
      all.push_back({.tensor = parameter.tensor,
                     .name = fmt::format("`{}`", parameter.name),
                     .is_parameter = parameter.kind == ParameterKind::parameter});
  std::erase_if(all, [&](const Operand& each) { return !is_read(plan, each.tensor); });
  return all;
}

void fill(PlanEditor& editor, int tensor, const Value& value) {
  const PlanTensor form = editor.tensor(tensor);
  editor.replace_operand(tensor, static_cast<int>(editor.plan().tensors.size()));
  editor.before("aten::full_like", {tensor_value(tensor), value}, form.shape, form.dtype);
}

// Repeats the first element, or the first row, everywhere.
void repeat_first(PlanEditor& editor, int tensor, bool whole_rows) {
  const PlanTensor form = editor.tensor(tensor);
  std::vector<std::int64_t> one(form.shape.size(), 1);
  if (whole_rows) std::copy(form.shape.begin() + 1, form.shape.end(), one.begin() + 1);
  int first = tensor;
  for (std::size_t d = 0; d < (whole_rows ? 1 : form.shape.size()); ++d) {
    std::vector<std::int64_t> shape = editor.tensor(first).shape;
    shape[d] = 1;
    first = editor.before(
        "aten::slice.Tensor",
        {tensor_value(first), whole(static_cast<std::int64_t>(d)), whole(0), whole(1)}, shape,
        form.dtype);
  }
  const int wide = editor.before("aten::expand", {tensor_value(first), whole_list(form.shape)},
                                 form.shape, form.dtype);
  editor.replace_operand(tensor, static_cast<int>(editor.plan().tensors.size()));
  editor.before("aten::clone", {tensor_value(wide)}, form.shape, form.dtype,
                {{"memory_format", Value{MemoryFormat::contiguous}}});
}

}  // namespace

void add_operand_faults(const Plan& plan, std::vector<Fault>& faults) {
  const std::size_t start = first_operator_of_forward(plan);
  if (start == plan.steps.size()) return;
  for (const Operand& each : operands_of(plan)) {
    const PlanTensor& form = plan.tensors.at(static_cast<std::size_t>(each.tensor));
    const std::int64_t elements = elements_of(form);
    const auto add = [&](std::string what, std::function<void(PlanEditor&)> edit) {
      faults.push_back({.kind = FaultKind::operand,
                        .what = each.name + std::move(what),
                        .step = start,
                        .edit = std::move(edit)});
    };
    const auto add_fill = [&](const char* what, const Value& value) {
      add(what, [tensor = each.tensor, value](PlanEditor& editor) { fill(editor, tensor, value); });
    };
    if (elements == 0) continue;
    if (form.dtype == DType::boolean) {
      add_fill(" taken for false everywhere", flag(false));
      add_fill(" taken for true everywhere", flag(true));
    } else if (is_floating(form.dtype)) {
      add_fill(" taken for zeros", number(0));
      add_fill(" taken for ones", number(1));
    } else {
      add_fill(" taken for zeros", whole(0));
    }
    if (each.is_parameter) continue;
    if (elements > 1)
      add(": its first element stands for all",
          [tensor = each.tensor](PlanEditor& editor) { repeat_first(editor, tensor, false); });
    if (form.shape.size() > 1 && form.shape[0] > 1 && elements > form.shape[0])
      add(": its first row stands for all",
          [tensor = each.tensor](PlanEditor& editor) { repeat_first(editor, tensor, true); });
  }
}

}  // namespace tritonsmith::gym::plan::faults
