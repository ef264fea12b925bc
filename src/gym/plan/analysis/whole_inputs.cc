#include "gym/plan/analysis/whole_inputs.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {

bool holds_real_numbers(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

bool holds_whole_numbers(DType dtype) {
  switch (dtype) {
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return true;
    default:
      return false;
  }
}

bool reads_in_forward(const Plan& task, int input) {
  const auto storage_of = [&](int index) {
    return task.tensors.at(static_cast<std::size_t>(index)).storage;
  };
  return std::ranges::any_of(task.steps, [&](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) return false;
    return std::ranges::any_of(tensors_given_to(*call),
                               [&](int given) { return storage_of(given) == storage_of(input); });
  });
}

bool is_only_computed_with(const Plan& task, int input) {
  const auto tensor = [&](int index) -> const PlanTensor& {
    return task.tensors.at(static_cast<std::size_t>(index));
  };
  const auto is_whole = [&](int index) {
    return tensor(index).dtype == DType::boolean || holds_whole_numbers(tensor(index).dtype);
  };
  std::set<int> whole = {tensor(input).storage};  // storages of numbers that follow from the input
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    const std::vector<int> read = tensors_given_to(*call);
    if (std::ranges::none_of(read, [&](int each) { return whole.contains(tensor(each).storage); }))
      continue;
    if (!operators::is(call->op, operators::Trait::elementwise) &&
        !operators::only_arranges(call->op))
      return false;
    for (const int made : call->outputs)
      if (made >= 0 && is_whole(made)) whole.insert(tensor(made).storage);
  }
  std::vector<int> outputs;
  append_tensors(task.outputs, outputs);
  return std::ranges::none_of(outputs,
                              [&](int each) { return whole.contains(tensor(each).storage); });
}

namespace {

std::optional<std::int64_t> size_of(const Plan& task, const Value& value, std::int64_t dim) {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  if (tensor == nullptr) return std::nullopt;
  const auto& shape = task.tensors.at(static_cast<std::size_t>(tensor->index)).shape;
  if (dim < 0) dim += std::ssize(shape);
  if (dim < 0 || dim >= std::ssize(shape)) return std::nullopt;
  return shape[static_cast<std::size_t>(dim)];
}

bool is_one_of(const std::set<int>& tensors, const Value& value) {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  return tensor != nullptr && tensors.contains(tensor->index);
}

// Returns nothing if the call does anything else with these tensors.
std::optional<std::int64_t> indexed_size(const Plan& task, const AtenCall& call,
                                         const std::set<int>& tensors) {
  const std::string_view name = operators::aten_base_name(call.op);
  if (name == "index" && call.args.size() > 1) {
    const auto* list = std::get_if<List>(&call.args[1].data);
    if (list == nullptr || is_one_of(tensors, call.args[0])) return std::nullopt;
    std::optional<std::int64_t> least;
    for (std::size_t k = 0; k < list->items.size(); ++k)
      if (is_one_of(tensors, list->items[k])) {
        const auto size = size_of(task, call.args[0], static_cast<std::int64_t>(k));
        if (!size) return std::nullopt;
        least = least ? std::min(*least, *size) : *size;
      }
    return least;
  }
  const auto* lookup = operators::lookup_arguments(name);
  if (lookup == nullptr || call.args.size() <= lookup->indices) return std::nullopt;
  for (std::size_t k = 0; k < call.args.size(); ++k)
    if (is_one_of(tensors, call.args[k]) != (k == lookup->indices)) return std::nullopt;
  std::int64_t dim = 0;
  if (lookup->dimension) {
    if (call.args.size() <= *lookup->dimension) return std::nullopt;
    const auto* number = std::get_if<std::int64_t>(&call.args[*lookup->dimension].data);
    if (number == nullptr) return std::nullopt;
    dim = *number;
  }
  return size_of(task, call.args[0], dim);
}

void append_numbers(const Value& value, std::vector<std::int64_t>& numbers) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) numbers.push_back(*number);
  if (const auto* list = std::get_if<List>(&value.data))
    for (const Value& item : list->items) append_numbers(item, numbers);
}

}  // namespace

std::optional<std::int64_t> indices_named_by(const Plan& task, int input) {
  std::set<int> given = {input};  // tensors that hold the input's elements as they are
  std::optional<std::int64_t> least;
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    const std::vector<int> read = tensors_given_to(*call);
    if (std::ranges::none_of(read, [&](int each) { return given.contains(each); })) continue;
    if (operators::only_arranges(call->op) && !operators::writes_in_place(call->op) &&
        read.size() == 1) {
      for (const int made : call->outputs)
        if (made >= 0) given.insert(made);
      continue;
    }
    const auto size = indexed_size(task, *call, given);
    if (!size) return std::nullopt;
    least = least ? std::min(*least, *size) : *size;
  }
  std::vector<int> outputs;
  append_tensors(task.outputs, outputs);
  if (std::ranges::any_of(outputs, [&](int each) { return given.contains(each); }))
    return std::nullopt;
  return least;
}

std::vector<std::int64_t> numbers_of_python(const Plan& task) {
  std::vector<std::int64_t> numbers;
  for (const Value& input : task.inputs) append_numbers(input, numbers);
  return numbers;
}

}  // namespace tritonsmith::gym::plan::analysis
