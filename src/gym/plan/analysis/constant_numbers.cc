#include "gym/plan/analysis/constant_numbers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr std::int64_t kMost = 64;

template <typename Number>
std::vector<double> numbers_as(const std::string& bytes) {
  std::vector<Number> read(bytes.size() / sizeof(Number));
  std::memcpy(read.data(), bytes.data(), read.size() * sizeof(Number));
  std::vector<double> numbers;
  for (const Number number : read) numbers.push_back(static_cast<double>(number));
  return numbers;
}

// The number with which the call fills a tensor.
std::vector<double> filled_with(const AtenCall& call) {
  const std::string_view name = operators::aten_base_name(call.op);
  const std::size_t position = name == "scalar_tensor" ? 0 : 1;
  if (position == 1 && name != "full" && name != "full_like" && name != "new_full" &&
      name != "fill" && name != "fill_")
    return {};
  const std::size_t at = name == "new_full" ? 2 : position;
  const auto number = call.args.size() > at ? number_of(call.args[at]) : std::nullopt;
  return number ? std::vector{*number} : std::vector<double>{};
}

}  // namespace

std::vector<double> numbers_in(const std::string& bytes, DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return numbers_as<std::uint8_t>(bytes);
    case DType::int8:
      return numbers_as<std::int8_t>(bytes);
    case DType::int16:
      return numbers_as<std::int16_t>(bytes);
    case DType::int32:
      return numbers_as<std::int32_t>(bytes);
    case DType::int64:
      return numbers_as<std::int64_t>(bytes);
    case DType::float32:
      return numbers_as<float>(bytes);
    case DType::float64:
      return numbers_as<double>(bytes);
    default:
      return {};
  }
}

int ConstantNumbers::storage_of(int tensor) const {
  return task_.tensors.at(static_cast<std::size_t>(tensor)).storage;
}

ConstantNumbers::ConstantNumbers(const Plan& task) : task_(task) {
  for (const PlanStep& step : task.steps) {
    if (const auto* call = std::get_if<AtenCall>(&step.action)) follow(*call);
    const auto* constant = std::get_if<ConstantStep>(&step.action);
    if (constant == nullptr) continue;
    const PlanTensor& made = task.tensors.at(static_cast<std::size_t>(constant->output));
    if (elements_of(made) <= kMost) held_[made.storage] = numbers_in(constant->bytes, made.dtype);
  }
}

void ConstantNumbers::follow(const AtenCall& call) {
  std::vector<double> numbers = filled_with(call);
  if (numbers.empty() && operators::only_arranges(call.op))
    for (const int read : tensors_given_to(call))
      if (const auto found = held_.find(storage_of(read)); found != held_.end())
        numbers.insert(numbers.end(), found->second.begin(), found->second.end());
  const bool is_small = static_cast<std::int64_t>(numbers.size()) <= kMost;
  for (const int output : call.outputs)
    if (output >= 0 && !numbers.empty() && is_small)
      held_[storage_of(output)] = numbers;
    else if (output >= 0)
      held_.erase(storage_of(output));
}

std::vector<double> ConstantNumbers::of(const Value& value) const {
  if (const auto number = number_of(value)) return {*number};
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  const auto found = tensor == nullptr ? held_.end() : held_.find(storage_of(tensor->index));
  return found == held_.end() ? std::vector<double>{} : found->second;
}

}  // namespace tritonsmith::gym::plan::analysis
