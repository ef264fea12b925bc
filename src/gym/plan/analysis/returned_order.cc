#include "gym/plan/analysis/returned_order.h"

#include <optional>

#include "gym/plan/analysis/forward_producers.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

const Value* argument_of(const AtenCall& call, std::size_t position, std::string_view name) {
  for (const auto& [key, value] : call.kwargs)
    if (key == name) return &value;
  return call.args.size() > position ? &call.args[position] : nullptr;
}

// Returns the order whose indices the call makes as this tensor. Other operators that put numbers in order
// return indices of single numbers, such as those of medians.
std::optional<ReturnedOrder> order_of(const AtenCall& call, int indices) {
  const std::string_view name = operators::aten_base_name(call.op);
  const bool is_topk = name == "topk", is_sort = name == "sort";
  if ((!is_topk && !is_sort && name != "argsort") || is_stable_sort(call)) return std::nullopt;
  const std::size_t nth = name == "argsort" ? 0 : 1;
  const auto* ranked = call.args.empty() ? nullptr : std::get_if<TensorRef>(&call.args[0].data);
  if (ranked == nullptr || call.outputs.size() <= nth || call.outputs[nth] != indices)
    return std::nullopt;
  ReturnedOrder order{.ranked = ranked->index};
  if (const Value* dimension = argument_of(call, is_topk ? 2 : 1, "dim"))
    if (const auto* number = std::get_if<std::int64_t>(&dimension->data)) order.dimension = *number;
  return order;
}

// Says whether the call gives the same numbers in the same shape.
bool only_copies(const Plan& task, const AtenCall& call, int from, int to) {
  const auto shape = [&](int tensor) {
    return task.tensors.at(static_cast<std::size_t>(tensor)).shape;
  };
  return (operators::only_arranges(call.op) || operators::is(call.op, operators::Trait::casts)) &&
         shape(from) == shape(to);
}

}  // namespace

bool is_stable_sort(const AtenCall& call) {
  const auto stable = call.op.ends_with(".stable") ? argument_of(call, 1, "stable") : nullptr;
  return stable != nullptr && *stable == Value{true};
}

std::vector<ReturnedOrder> returned_orders(const Plan& task) {
  const ForwardProducers producers = forward_producers(task);
  std::vector<int> outputs;
  append_tensors(task.outputs, outputs);
  std::vector<ReturnedOrder> orders;
  for (const int output : outputs) {
    int tensor = output;
    for (auto at = producers.find(tensor); at != producers.end(); at = producers.find(tensor)) {
      const AtenCall& call = *at->second;
      if (auto order = order_of(call, tensor)) {
        order->output = output;
        orders.push_back(*order);
        break;
      }
      const auto* from = call.args.empty() ? nullptr : std::get_if<TensorRef>(&call.args[0].data);
      if (from == nullptr || from->index == tensor || !only_copies(task, call, from->index, tensor))
        break;
      tensor = from->index;
    }
  }
  return orders;
}

}  // namespace tritonsmith::gym::plan::analysis
