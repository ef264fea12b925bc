#include "gym/replay/own_width.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::replay {

tensors::TensorTable with_own_dtypes(const plan::Plan& plan, const plan::AtenCall& call,
                                     const tensors::TensorTable& tensors) {
  std::vector<int> operands;
  for (const plan::Value& value : call.args) plan::append_tensors(value, operands);
  for (const auto& [name, value] : call.kwargs) plan::append_tensors(value, operands);
  tensors::TensorTable own = tensors;
  for (const int index : operands) {
    const auto at = static_cast<std::size_t>(index);
    at::Tensor& operand = own.at(at);
    if (operand.defined() && operand.is_floating_point())
      operand = operand.to(tensors::scalar_type_of(plan.tensors.at(at).dtype));
  }
  return own;
}

void widen(torch::jit::Stack& results) {
  for (c10::IValue& result : results)
    if (result.isTensor() && result.toTensor().defined() && result.toTensor().is_floating_point())
      result = result.toTensor().to(at::kDouble);
}

std::set<int> storages_of_results(const plan::Plan& plan, const plan::AtenCall& call) {
  std::set<int> storages;
  for (const int index : call.outputs)
    if (index >= 0) storages.insert(plan.tensors.at(static_cast<std::size_t>(index)).storage);
  return storages;
}

bool lies_in(const std::set<int>& storages, const plan::Plan& plan, const plan::AtenCall& call) {
  return !storages.empty() &&
         std::ranges::any_of(storages_of_results(plan, call),
                             [&](int storage) { return storages.contains(storage); });
}

}  // namespace tritonsmith::gym::replay
