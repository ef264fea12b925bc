#include "gym/plan/analysis/tensor_devices.h"

#include <algorithm>

namespace tritonsmith::gym::plan::analysis {
namespace {

const DeviceKind* named_device(const AtenCall& call) {
  for (const auto& [name, value] : call.kwargs)
    if (const auto* device = std::get_if<DeviceKind>(&value.data)) return device;
  for (const Value& value : call.args)
    if (const auto* device = std::get_if<DeviceKind>(&value.data)) return device;
  return nullptr;
}

}  // namespace

std::vector<bool> tensors_on_cpu(const Plan& plan) {
  std::vector<bool> on_cpu(plan.tensors.size(), false), moved(plan.tensors.size(), false);
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  // Parameters and inputs are on the GPU before forward, whichever device made them.
  for (const PlanParameter& parameter : plan.parameters) moved[at(parameter.tensor)] = true;
  std::vector<int> inputs;
  for (const Value& input : plan.inputs) append_tensors(input, inputs);
  for (const int input : inputs) moved[at(input)] = true;
  for (const PlanStep& step : plan.steps) {
    if (const auto* constant = std::get_if<ConstantStep>(&step.action)) {
      on_cpu[at(constant->output)] = !moved[at(constant->output)];
      continue;
    }
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr) continue;
    const std::vector<int> read = tensors_given_to(*call);
    const DeviceKind* named = named_device(*call);
    bool cpu = read.empty();
    if (named != nullptr)
      cpu = *named == DeviceKind::cpu;
    else if (!read.empty())
      // An operand with a single number may lie on either device.
      cpu = std::ranges::all_of(read,
                                [&](int index) {
                                  return on_cpu[at(index)] || plan.tensors[at(index)].shape.empty();
                                }) &&
            std::ranges::any_of(read, [&](int index) { return on_cpu[at(index)]; });
    for (const int output : call->outputs)
      if (output >= 0 && std::ranges::find(read, output) == read.end())
        on_cpu[at(output)] = cpu && !moved[at(output)];
  }
  return on_cpu;
}

}  // namespace tritonsmith::gym::plan::analysis
