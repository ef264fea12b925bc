#include "gym/plan/analysis/tensor_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

namespace tritonsmith::gym::plan::analysis {
namespace {

struct NamedTensor {
  int tensor = 0;
  std::string path;
};

// Appends the tensors of a value in the order of append_tensors(), each with the expression that leads
// to it.
void append_named(const Value& value, const std::string& path, std::vector<NamedTensor>& named) {
  const auto append_items = [&](const std::vector<Value>& items) {
    for (std::size_t k = 0; k < items.size(); ++k)
      append_named(items[k], fmt::format("{}[{}]", path, k), named);
  };
  if (const auto* tensor = std::get_if<TensorRef>(&value.data))
    named.push_back({tensor->index, path});
  else if (const auto* list = std::get_if<List>(&value.data))
    append_items(list->items);
  else if (const auto* tuple = std::get_if<Tuple>(&value.data))
    append_items(tuple->items);
  else if (const auto* dict = std::get_if<Dict>(&value.data))
    for (const DictEntry& entry : dict->items)
      append_named(entry.value, fmt::format("{}['{}']", path, entry.key), named);
}

std::vector<NamedTensor> named_inputs(const Plan& plan) {
  std::vector<NamedTensor> named;
  for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
    const bool is_known = k < plan.input_names.size() && !plan.input_names[k].empty();
    const std::size_t first = named.size();
    append_named(plan.inputs[k], is_known ? plan.input_names[k] : "", named);
    for (std::size_t n = first; n < named.size(); ++n)
      named[n].path = is_known ? fmt::format("`{}`", named[n].path)
                      : named[n].path.empty()
                          ? fmt::format("argument {}", k + 1)
                          : fmt::format("`{}` of argument {}", named[n].path, k + 1);
  }
  return named;
}

std::vector<NamedTensor> named_outputs(const Plan& plan) {
  std::vector<NamedTensor> named;
  append_named(plan.outputs, "", named);
  for (NamedTensor& each : named)
    each.path = each.path.empty() ? "the output" : "output" + each.path;
  return named;
}

std::string made_name(const PlanTensor& tensor, int line) {
  std::string name = fmt::format("the tensor of shape [{}]", fmt::join(tensor.shape, ", "));
  if (line > 0) name += fmt::format(" that line {} makes", line);
  return name;
}

}  // namespace

std::vector<std::string> input_names(const Plan& plan) {
  std::vector<std::string> names;
  std::set<int> seen;
  for (NamedTensor& each : named_inputs(plan))
    if (seen.insert(each.tensor).second) names.push_back(std::move(each.path));
  return names;
}

std::vector<std::string> output_names(const Plan& plan) {
  std::vector<std::string> names;
  for (NamedTensor& each : named_outputs(plan)) names.push_back(std::move(each.path));
  return names;
}

void TensorNames::find_names() {
  const Plan& plan = plan_;
  for (NamedTensor& each : named_inputs(plan)) add(each.tensor, std::move(each.path));
  if (plan.first_call) {
    Plan first = {.inputs = plan.first_call->inputs, .input_names = plan.input_names};
    for (NamedTensor& each : named_inputs(first)) add(each.tensor, std::move(each.path));
  }
  for (const PlanParameter& parameter : plan.parameters)
    add(parameter.tensor, fmt::format("`{}`", parameter.name));
  for (NamedTensor& each : named_outputs(plan)) add(each.tensor, std::move(each.path));
  for (const PlanStep& step : plan.steps) {
    std::vector<int> made;
    if (const auto* call = std::get_if<AtenCall>(&step.action))
      made = call->outputs;
    else if (const auto* constant = std::get_if<ConstantStep>(&step.action))
      made = {constant->output};
    for (const int tensor : made)
      if (tensor >= 0)
        add(tensor, made_name(plan.tensors.at(static_cast<std::size_t>(tensor)), step.line));
  }
}

void TensorNames::add(int tensor, std::string name) {
  names_.try_emplace(plan_.tensors.at(static_cast<std::size_t>(tensor)).storage, std::move(name));
}

std::string_view TensorNames::of(int tensor) {
  if (names_.empty()) find_names();
  const auto known = names_.find(plan_.tensors.at(static_cast<std::size_t>(tensor)).storage);
  return known == names_.end() ? std::string_view("a tensor") : known->second;
}

}  // namespace tritonsmith::gym::plan::analysis
