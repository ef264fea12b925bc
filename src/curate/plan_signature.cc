#include "curate/plan_signature.h"

#include <fmt/format.h>

#include <map>

#include "base/hash.h"
#include "gym/language/registry/languages.h"

namespace tritonsmith::curate {
namespace {

using namespace gym::plan;

// Tensors get numbers in the order in which they appear, so that other numberings are the same.
class Names {
 public:
  explicit Names(const Plan& plan) {
    std::vector<int> inputs;
    for (const Value& each : plan.inputs) append_tensors(each, inputs);
    for (const int each : inputs) names_.try_emplace(each, fmt::format("x{}", names_.size()));
  }
  std::string of(int tensor) {
    return names_.try_emplace(tensor, fmt::format("t{}", names_.size())).first->second;
  }

 private:
  std::map<int, std::string> names_;
};

std::string text_of(const Value& value, Names& names) {
  const auto all_of = [&](const std::vector<Value>& items) {
    std::string text = "(";
    for (const Value& each : items) text += text_of(each, names) + " ";
    return text + ")";
  };
  if (const auto* tensor = std::get_if<TensorRef>(&value.data)) return names.of(tensor->index);
  if (const auto* list = std::get_if<List>(&value.data)) {
    // Shapes are lists of numbers, of any length.
    for (const Value& each : list->items)
      if (!std::holds_alternative<std::int64_t>(each.data)) return all_of(list->items);
    return "#";
  }
  if (const auto* tuple = std::get_if<Tuple>(&value.data)) return all_of(tuple->items);
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* truth = std::get_if<bool>(&value.data)) return *truth ? "true" : "false";
  if (std::holds_alternative<None>(value.data)) return "none";
  return "#";
}

std::string text_of(const AtenCall& call, Names& names) {
  std::string text = call.op + "(";
  for (const Value& each : call.args) text += text_of(each, names) + " ";
  for (const auto& [name, value] : call.kwargs)
    if (name != "device" && name != "dtype" && name != "layout" && name != "pin_memory")
      text += name + "=" + text_of(value, names) + " ";
  text += ") ->";
  for (const int each : call.outputs) text += " " + (each < 0 ? "none" : names.of(each));
  return text + "\n";
}

std::string without_locations(const PlanKernel& kernel) {
  return gym::language::language_of(kernel).without_locations(kernel.code).value_or(kernel.code);
}

}  // namespace

std::string task_signature(const Plan& plan) {
  if (!plan.unplanned.empty()) return {};
  Names names(plan);
  std::string text;
  for (const PlanStep& step : plan.steps) {
    if (step.phase != Phase::forward) continue;
    if (const auto* call = std::get_if<AtenCall>(&step.action)) text += text_of(*call, names);
    if (std::holds_alternative<LaunchStep>(step.action)) text += "launch\n";
    if (const auto* constant = std::get_if<ConstantStep>(&step.action))
      text += fmt::format("constant -> {}\n", names.of(constant->output));
  }
  return content_key(text + "=> " + text_of(plan.outputs, names));
}

std::string kernel_signature(const Plan& plan) {
  Names names(plan);
  std::string text;
  for (const PlanStep& step : plan.steps) {
    if (step.phase != Phase::forward) continue;
    if (const auto* call = std::get_if<AtenCall>(&step.action)) text += text_of(*call, names);
    const auto* launch = std::get_if<LaunchStep>(&step.action);
    if (launch == nullptr || launch->choices.empty()) continue;
    const LaunchChoice& choice = launch->choices.front();
    text += without_locations(plan.kernels[static_cast<std::size_t>(choice.kernel)]);
    for (const Value& each : choice.arguments) text += text_of(each, names) + " ";
    text += '\n';
  }
  return content_key(text + "=> " + text_of(plan.outputs, names));
}

}  // namespace tritonsmith::curate
