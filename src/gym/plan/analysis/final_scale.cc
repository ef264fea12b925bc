#include "gym/plan/analysis/final_scale.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/analysis/forward_producers.h"
#include "gym/plan/analysis/whole_inputs.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// Returns the number with which the call multiplies its first argument, or nothing.
std::optional<double> factor_of(const AtenCall& call) {
  if (operators::only_arranges(call.op)) return 1;
  const std::string_view name = operators::aten_base_name(call.op);
  if ((name != "mul" && name != "div") || call.args.size() != 2 || !call.kwargs.empty())
    return std::nullopt;
  const auto number = number_of(call.args[1]);
  if (!number || *number == 0 || !std::isfinite(*number)) return std::nullopt;
  return std::abs(name == "mul" ? *number : 1 / *number);
}

double scale_of(const ForwardProducers& producers, int tensor) {
  double scale = 1;
  for (auto at = producers.find(tensor); at != producers.end(); at = producers.find(tensor)) {
    const AtenCall& call = *at->second;
    const auto factor = factor_of(call);
    const auto* from = call.args.empty() ? nullptr : std::get_if<TensorRef>(&call.args[0].data);
    if (!factor || from == nullptr || from->index == tensor) break;
    scale *= *factor;
    tensor = from->index;
  }
  return scale;
}

}  // namespace

double final_scale(const Plan& task) {
  const ForwardProducers producers = forward_producers(task);
  std::vector<int> outputs;
  append_tensors(task.outputs, outputs);
  double largest = 0;
  for (const int output : outputs)
    if (holds_real_numbers(task.tensors.at(static_cast<std::size_t>(output)).dtype))
      largest = std::max(largest, scale_of(producers, output));
  return largest > 0 ? std::min(largest, 1.0) : 1;
}

}  // namespace tritonsmith::gym::plan::analysis
