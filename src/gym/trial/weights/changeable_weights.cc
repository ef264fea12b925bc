#include "gym/trial/weights/changeable_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <optional>

#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/weights/weight_copies.h"

namespace tritonsmith::gym::trial {
namespace {

std::set<int> made_by_init(const plan::Plan& plan) {
  std::set<int> made;
  for (const plan::PlanStep& step : plan.steps) {
    if (step.phase != plan::Phase::init) continue;
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action))
      made.insert(call->outputs.begin(), call->outputs.end());
    if (const auto* constant = std::get_if<plan::ConstantStep>(&step.action))
      made.insert(constant->output);
  }
  return made;
}

// Returns a module's own tensors: forward reads them, the constructor made them, and they are no
// parameter that the other side knows. If the Python reference runs forward, no plan says what
// forward reads, so all tensors of the constructor count.
std::vector<int> own_tensors(const plan::Plan& plan, const std::set<int>& known_storages) {
  const std::set<int> made = made_by_init(plan);
  std::vector<int> own;
  for (const int index : plan.unplanned.empty() ? read_by_forward(plan) : made)
    if (index >= 0 && made.contains(index) &&
        !known_storages.contains(plan::analysis::storage_of(plan, index)))
      own.push_back(index);
  return own;
}

bool reads_storage(const plan::Plan& plan, const plan::AtenCall& call, int storage) {
  std::vector<int> read;
  for (const plan::Value& argument : call.args) plan::append_tensors(argument, read);
  return std::ranges::any_of(
      read, [&](int index) { return plan::analysis::storage_of(plan, index) == storage; });
}

bool writes(const plan::Plan& plan, const plan::PlanStep& step, int tensor) {
  if (const auto* constant = std::get_if<plan::ConstantStep>(&step.action))
    return constant->output == tensor;
  const auto* call = std::get_if<plan::AtenCall>(&step.action);
  if (call == nullptr || std::ranges::find(call->outputs, tensor) == call->outputs.end())
    return false;
  return plan::operators::writes_in_place(call->op) ||
         !reads_storage(plan, *call, plan::analysis::storage_of(plan, tensor));
}

// Returns the last step of the constructor that gives the tensor's memory values, or else the first
// that names the tensor.
std::optional<std::size_t> made_at(const plan::Plan& plan, int tensor) {
  std::optional<std::size_t> at;
  bool is_named = false;
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const plan::PlanStep& step = plan.steps[k];
    if (step.phase != plan::Phase::init) continue;
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    std::vector<int> outputs;
    if (call != nullptr) outputs = call->outputs;
    if (const auto* constant = std::get_if<plan::ConstantStep>(&step.action))
      outputs = {constant->output};
    for (const int output : outputs) {
      if (output < 0 ||
          plan::analysis::storage_of(plan, output) != plan::analysis::storage_of(plan, tensor))
        continue;
      if (writes(plan, step, output) || (output == tensor && !is_named)) at = k;
      is_named = is_named || output == tensor;
    }
  }
  return is_named ? at : std::nullopt;
}

bool is_changeable_weight(const at::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 && tensor.is_floating_point() &&
         tensor.element_size() > 1;
}

bool is_finite(const at::Tensor& tensor) { return at::isfinite(tensor).all().item<bool>(); }

// Returns the tensors that a norm's forward in evaluation mode reads as its running statistics.
std::set<int> statistics_of_norms(const plan::Plan& plan) {
  constexpr std::size_t mean = 3, variance = 4, training = 5;
  std::set<int> statistics;
  for (const plan::PlanStep& step : plan.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward || call->args.size() <= training)
      continue;
    if (!plan::operators::is(call->op, plan::operators::Trait::running_statistics) ||
        call->args[training] == plan::Value{true})
      continue;
    for (const std::size_t k : {mean, variance})
      if (const auto* tensor = std::get_if<plan::TensorRef>(&call->args[k].data))
        statistics.insert(tensor->index);
  }
  return statistics;
}

std::set<int> storages_of_parameters(const plan::Plan& plan) {
  std::set<int> storages;
  for (const plan::PlanParameter& parameter : plan.parameters)
    storages.insert(plan::analysis::storage_of(plan, parameter.tensor));
  return storages;
}

// Returns nothing if some copy has no such step.
std::optional<std::vector<std::size_t>> steps_that_make(const plan::Plan& plan,
                                                        const std::vector<WeightCopy>& copies) {
  std::vector<std::size_t> steps;
  for (const WeightCopy& copy : copies) {
    const auto step = made_at(plan, copy.tensor);
    if (!step) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

// Returns the first tensor already there that has the same values, or else the weight itself.
int first_alike(const std::map<int, int>& alike, const at::Tensor& weight,
                const ModuleSide& reference, int itself) {
  for (const auto& [tensor, first] : alike) {
    const at::Tensor& other = tensors::tensor_at(reference.tensors, tensor);
    if (other.numel() == weight.numel() && other.scalar_type() == weight.scalar_type() &&
        other.flatten().equal(weight.flatten()))
      return first;
  }
  return itself;
}

}  // namespace

ChangeableWeights changeable_weights(const ModuleSide& reference, const ModuleSide& candidate,
                                     const std::vector<WeightPair>& pairs) {
  std::map<int, int> held;  // from the reference's tensor to the candidate's
  std::set<int> matched;
  for (const WeightPair& pair : pairs) {
    held[pair.reference] = pair.candidate;
    matched.insert(plan::analysis::storage_of(candidate.plan, pair.candidate));
  }
  const std::vector<int> own = own_tensors(candidate.plan, matched);
  const std::set<int> folded = folded_into(candidate.plan, own, matched);
  const std::set<int> ours = storages_of_parameters(reference.plan);
  const std::set<int> folded_by_us =
      folded_into(reference.plan, own_tensors(reference.plan, ours), ours);
  const std::set<int> random_storages =
      plan::analysis::drawn_storages(reference.plan, plan::Phase::init);
  const std::set<int> statistics = statistics_of_norms(reference.plan);
  WeightCopies copies(candidate, own, matched);
  ChangeableWeights all;
  for (const plan::PlanParameter& parameter : reference.plan.parameters) {
    const at::Tensor& weight = tensors::tensor_at(reference.tensors, parameter.tensor);
    const int storage = plan::analysis::storage_of(reference.plan, parameter.tensor);
    if (!is_changeable_weight(weight) || folded_by_us.contains(storage)) continue;
    const bool is_parameter = parameter.kind == plan::ParameterKind::parameter;
    const bool has_one_value = is_constant(weight);
    const bool is_drawn = random_storages.contains(storage) && !has_one_value;
    const bool is_table = !is_drawn && !has_one_value;
    if (is_table && (!is_parameter || parameter.is_frozen || !is_finite(weight))) continue;
    const bool is_statistic = statistics.contains(parameter.tensor);
    const auto theirs = held.find(parameter.tensor);
    const bool is_held = theirs != held.end();
    // A candidate without this buffer may have written its number into its code.
    const bool is_number = !is_parameter && !is_statistic && weight.numel() == 1;
    if (is_number && (!is_held || !is_finite(weight))) continue;
    std::vector<WeightCopy> early;
    if (is_held && folded.contains(plan::analysis::storage_of(candidate.plan, theirs->second)))
      early.push_back({.tensor = theirs->second});
    if (const auto copy =
            is_held ? copies.take_origin(weight, theirs->second) : copies.take(weight))
      early.push_back(*copy);
    const auto made = steps_that_make(candidate.plan, early);
    if (!made) continue;
    for (std::size_t k = 0; k < early.size(); ++k)
      all.early.push_back({(*made)[k], parameter.tensor, early[k].tensor, early[k].first});
    // Without a copy of its own, it is a weight that the candidate does not use.
    if (!is_held && !is_drawn)
      all.alike[parameter.tensor] =
          early.empty() ? parameter.tensor
                        : first_alike(all.alike, weight, reference, parameter.tensor);
    if (!is_parameter) (is_number ? all.numbers : all.statistics).insert(parameter.tensor);
    (is_drawn ? all.drawn : all.given).insert(parameter.tensor);
  }
  return all;
}

}  // namespace tritonsmith::gym::trial
