#include "gym/plan/analysis/cost/forward_values.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using operators::has_trait;
using operators::Trait;

// Returns the given tensor that an operator writes to, if any.
std::optional<int> written_by(const AtenCall& call) {
  std::vector<int> tensors;
  for (const auto& [name, value] : call.kwargs)
    if (name == "out") append_tensors(value, tensors);
  if (tensors.empty() && operators::writes_in_place(call.op)) tensors = tensors_given_to(call);
  return tensors.empty() ? std::nullopt : std::optional(tensors.front());
}

}  // namespace

std::int64_t distinct_elements(const PlanTensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and size
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    if (tensor.shape[d] == 0) return 0;
    if (tensor.shape[d] > 1) steps.emplace_back(tensor.stride[d], tensor.shape[d]);
  }
  std::ranges::sort(steps);
  std::int64_t reach = 0, count = 1;
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) continue;
    count *= size;
    reach += (size - 1) * stride;
  }
  return count;
}

bool has_a_zero(const AtenCall& call) {
  return std::ranges::any_of(call.args, [](const Value& value) {
    const auto* whole = std::get_if<std::int64_t>(&value.data);
    const auto* real = std::get_if<double>(&value.data);
    return (whole != nullptr && *whole == 0) || (real != nullptr && *real == 0);
  });
}

ForwardValues::ForwardValues(const Plan& task) : task_(task) {
  find_drawn();
  list_steps();
}

std::int64_t ForwardValues::held(ValueId value) const {
  const PlanTensor& what = facts(value);
  return std::min(elements_of(what), what.storage_bytes / bytes_of(what.dtype));
}

ValueId ForwardValues::fresh(int tensor) {
  tensor_of_.push_back(tensor);
  return tensor_of_.size() - 1;
}

// Finds the values whose memory only a random generator has written.
void ForwardValues::find_drawn() {
  std::set<int> random, other;
  for (const PlanStep& step : task_.steps) {
    if (step.phase == Phase::forward) continue;
    const auto* call = std::get_if<AtenCall>(&step.action);
    const std::string_view name = call != nullptr ? operators::aten_base_name(call->op) : "";
    const bool draws = has_trait(name, Trait::fills_by_chance);
    std::vector<int> written;
    if (call != nullptr) written = call->outputs;
    if (const auto* constant = std::get_if<ConstantStep>(&step.action))
      written.push_back(constant->output);
    for (const int output : written) {
      if (output < 0) continue;
      if (draws) random.insert(declared(output).storage);
      if (!has_trait(name, Trait::leaves_drawn)) other.insert(declared(output).storage);
      if (has_trait(name, Trait::zeros) || (has_trait(name, Trait::fills) && has_a_zero(*call)))
        zeroed_.insert(declared(output).storage);
      if (has_trait(name, Trait::draws_order)) permuted_.insert(declared(output).storage);
    }
  }
  for (std::size_t k = 0; k < task_.tensors.size(); ++k) {
    const auto tensor = static_cast<int>(k);
    current_.push_back(fresh(tensor));
    const int storage = declared(tensor).storage;
    if (random.contains(storage) && !other.contains(storage)) drawn_.insert(k);
  }
}

// Lists forward's operators on values. Each value is made once.
void ForwardValues::list_steps() {
  std::set<int> rewritten;
  for (const PlanStep& at : task_.steps) {
    const auto* call = std::get_if<AtenCall>(&at.action);
    if (call == nullptr || at.phase != Phase::forward) continue;
    ValueStep step{.name = operators::aten_base_name(call->op), .call = call};
    const std::vector<int> tensors = tensors_given_to(*call);
    for (const int tensor : tensors) step.given.push_back(last(tensor));
    if (const auto target = written_by(*call)) {
      rewritten.insert(declared(*target).storage);
      rewrite(step, *target);
      continue;
    }
    for (const int output : call->outputs) {
      if (output < 0) continue;
      // A view of drawn numbers is the same value until one of them is written.
      if (rewritten.contains(declared(output).storage) || !is_drawn(last(output)))
        current_[static_cast<std::size_t>(output)] = fresh(output);
      step.made.push_back(last(output));
    }
    if (!step.made.empty()) steps_.push_back(std::move(step));
  }
}

// Gives new values to all tensors of the target's memory. After an elementwise operator on the
// whole memory, tensors that lie as the target does hold its result. Nothing is known of the
// other tensors.
void ForwardValues::rewrite(ValueStep& step, int target) {
  const PlanTensor& what = declared(target);
  const bool is_whole = distinct_elements(what) * bytes_of(what.dtype) == what.storage_bytes;
  const ValueId made = fresh(target);
  for (std::size_t k = 0; k < task_.tensors.size(); ++k) {
    const PlanTensor& other = task_.tensors[k];
    if (other.storage != what.storage) continue;
    const bool lies_alike = other.shape == what.shape && other.stride == what.stride &&
                            other.offset == what.offset && other.dtype == what.dtype;
    current_[k] = lies_alike ? made : fresh(static_cast<int>(k));
  }
  if (!step.name.ends_with('_')) return;
  step.name.remove_suffix(1);
  if (!is_whole || !has_trait(step.name, Trait::elementwise)) return;
  step.made = {made};
  steps_.push_back(std::move(step));
}

}  // namespace tritonsmith::gym::plan::analysis
