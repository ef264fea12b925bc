#include "gym/referee/changeable_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "gym/referee/chance.h"
#include "gym/referee/operators.h"

namespace tritonsmith::gym {
namespace {

std::set<int> made_by_init(const Plan& plan) {
  std::set<int> made;
  for (const PlanStep& step : plan.steps) {
    if (step.phase != Phase::init) continue;
    if (const auto* call = std::get_if<AtenCall>(&step.action))
      made.insert(call->outputs.begin(), call->outputs.end());
  }
  return made;
}

// Tensors of a module's own: forward reads them, the constructor made them, and they are no
// parameter that the other side knows.
std::vector<int> own_tensors(const Plan& plan, const std::set<int>& known_storages) {
  const std::set<int> made = made_by_init(plan);
  std::vector<int> own;
  for (const int index : read_by_forward(plan))
    if (made.contains(index) && !known_storages.contains(storage_of(plan, index)))
      own.push_back(index);
  return own;
}

// What those tensors follow from, among storages.
std::set<int> folded_into(const Plan& plan, const std::vector<int>& own,
                          const std::set<int>& storages) {
  Sources sources = sources_of(plan, Phase::init, storages);
  std::set<int> folded;
  for (const int index : own) folded.merge(sources[storage_of(plan, index)]);
  return folded;
}

bool reads_storage(const Plan& plan, const AtenCall& call, int storage) {
  std::vector<int> read;
  for (const Value& argument : call.args) append_tensors(argument, read);
  return std::ranges::any_of(read, [&](int index) { return storage_of(plan, index) == storage; });
}

bool writes(const Plan& plan, const PlanStep& step, int tensor) {
  if (const auto* constant = std::get_if<ConstantStep>(&step.action))
    return constant->output == tensor;
  const auto* call = std::get_if<AtenCall>(&step.action);
  if (call == nullptr || std::ranges::find(call->outputs, tensor) == call->outputs.end())
    return false;
  return aten_base_name(call->op).ends_with('_') ||
         !reads_storage(plan, *call, storage_of(plan, tensor));
}

// The last step of the constructor that gives the tensor's memory values, or first names it.
std::optional<std::size_t> made_at(const Plan& plan, int tensor) {
  std::optional<std::size_t> at;
  bool is_named = false;
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const PlanStep& step = plan.steps[k];
    if (step.phase != Phase::init) continue;
    const auto* call = std::get_if<AtenCall>(&step.action);
    std::vector<int> outputs;
    if (call != nullptr) outputs = call->outputs;
    if (const auto* constant = std::get_if<ConstantStep>(&step.action))
      outputs = {constant->output};
    for (const int output : outputs) {
      if (output < 0 || storage_of(plan, output) != storage_of(plan, tensor)) continue;
      if (writes(plan, step, output) || (output == tensor && !is_named)) at = k;
      is_named = is_named || output == tensor;
    }
  }
  return is_named ? at : std::nullopt;
}

bool is_changeable(const at::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 && tensor.is_floating_point() &&
         tensor.element_size() > 1;
}

bool is_finite(const at::Tensor& tensor) { return at::isfinite(tensor).all().item<bool>(); }

bool is_constant(const at::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 && tensor.is_floating_point() &&
         tensor.eq(tensor.flatten()[0]).all().item<bool>();
}

// What a norm's forward in evaluation mode reads as the statistics of its training.
std::set<int> statistics_of_norms(const Plan& plan) {
  static constexpr auto kEvaluatedNorms = std::to_array<std::string_view>(
      {"batch_norm", "native_batch_norm", "_native_batch_norm_legit",
       "_native_batch_norm_legit_no_training", "cudnn_batch_norm", "instance_norm"});
  constexpr std::size_t mean = 3, variance = 4, training = 5;
  std::set<int> statistics;
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward || call->args.size() <= training) continue;
    const std::string_view name = aten_base_name(call->op);
    if (std::ranges::find(kEvaluatedNorms, name) == kEvaluatedNorms.end() ||
        call->args[training] == Value{true})
      continue;
    for (const std::size_t k : {mean, variance})
      if (const auto* tensor = std::get_if<TensorRef>(&call->args[k].data))
        statistics.insert(tensor->index);
  }
  return statistics;
}

// A candidate without the parameter may have made the same values to pack them: tensors of its
// constructor's that one of its own follows from. One of a single value may stand for several
// weights, a part for each in their order.
class Twins {
 public:
  Twins(const ModuleSide& candidate, const std::vector<int>& own, const std::set<int>& known)
      : candidate_(candidate) {
    std::vector<int> made;
    std::set<int> storages;
    for (const PlanStep& step : candidate.plan.steps)
      for (const int output : made_by(step))
        if (!known.contains(storage_of(candidate.plan, output))) {
          made.push_back(output);
          storages.insert(storage_of(candidate.plan, output));
        }
    const std::set<int> folded = folded_into(candidate.plan, own, storages);
    for (const int output : made)
      if (folded.contains(storage_of(candidate.plan, output))) left_.push_back({.tensor = output});
  }

  struct Part {
    int tensor = 0;
    std::int64_t first = 0;  // element
  };
  std::optional<Part> take(const at::Tensor& weight) {
    const auto at = std::ranges::find_if(left_, [&](const Part& each) {
      return each.first == 0 && size_of(each) == weight.numel() && is_twin(each, weight);
    });
    if (at != left_.end()) {
      const Part taken = *at;
      left_.erase(at);
      return taken;
    }
    const auto holds = std::ranges::find_if(left_, [&](const Part& each) {
      return is_constant(weight) && each.first + weight.numel() <= size_of(each) &&
             is_constant(tensor_at(candidate_.tensors, each.tensor)) && is_twin(each, weight);
    });
    if (holds == left_.end()) return std::nullopt;
    const Part taken = *holds;
    holds->first += weight.numel();
    return taken;
  }

 private:
  static std::vector<int> made_by(const PlanStep& step) {
    if (step.phase != Phase::init) return {};
    if (const auto* constant = std::get_if<ConstantStep>(&step.action)) return {constant->output};
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || call->outputs.size() != 1 || call->outputs[0] < 0 ||
        leaves_unwritten(call->op))
      return {};
    return call->outputs;
  }

  std::int64_t size_of(const Part& part) const {
    return tensor_at(candidate_.tensors, part.tensor).numel();
  }

  bool is_twin(const Part& part, const at::Tensor& weight) const {
    const at::Tensor& made = tensor_at(candidate_.tensors, part.tensor);
    return made.defined() && made.is_floating_point() && made.is_non_overlapping_and_dense() &&
           made.flatten()
               .narrow(0, part.first, weight.numel())
               .equal(weight.flatten().to(made.scalar_type()));
  }

  const ModuleSide& candidate_;
  std::vector<Part> left_;
};

std::set<int> storages_of_parameters(const Plan& plan) {
  std::set<int> storages;
  for (const PlanParameter& parameter : plan.parameters)
    storages.insert(storage_of(plan, parameter.tensor));
  return storages;
}

}  // namespace

ChangeableWeights changeable_weights(const ModuleSide& reference, const ModuleSide& candidate,
                                     const std::vector<WeightPair>& pairs) {
  std::map<int, int> held;  // the reference's tensor -> the candidate's
  std::set<int> matched;
  for (const WeightPair& pair : pairs) {
    held[pair.reference] = pair.candidate;
    matched.insert(storage_of(candidate.plan, pair.candidate));
  }
  const std::vector<int> own = own_tensors(candidate.plan, matched);
  const std::set<int> folded = folded_into(candidate.plan, own, matched);
  const std::set<int> ours = storages_of_parameters(reference.plan);
  const std::set<int> folded_by_us =
      folded_into(reference.plan, own_tensors(reference.plan, ours), ours);
  const std::set<int> by_chance = drawn_storages(reference.plan, Phase::init);
  const std::set<int> statistics = statistics_of_norms(reference.plan);
  // What a shell's forward reads no plan says.
  const bool is_known = reference.plan.unplanned.empty();
  Twins twins(candidate, own, matched);
  ChangeableWeights all;
  for (const PlanParameter& parameter : reference.plan.parameters) {
    const at::Tensor& weight = tensor_at(reference.tensors, parameter.tensor);
    const int storage = storage_of(reference.plan, parameter.tensor);
    if (!is_changeable(weight) || folded_by_us.contains(storage)) continue;
    const bool is_parameter = parameter.kind == ParameterKind::parameter;
    const bool has_one_value = is_constant(weight);
    const bool is_drawn = by_chance.contains(storage) && !has_one_value;
    const bool is_table = !is_drawn && !has_one_value;
    if ((!is_parameter && !has_one_value) || (is_table && !is_finite(weight))) continue;
    const auto theirs = held.find(parameter.tensor);
    const bool is_held = theirs != held.end();
    std::optional<Twins::Part> early;
    if (is_held) {
      if (folded.contains(storage_of(candidate.plan, theirs->second)))
        early = Twins::Part{.tensor = theirs->second};
    } else if (!is_parameter && !statistics.contains(parameter.tensor)) {
      continue;
    } else if (!own.empty()) {
      early = twins.take(weight);
    }
    if (early) {
      const auto step = made_at(candidate.plan, early->tensor);
      if (!step || !is_known) continue;
      all.early.push_back({*step, parameter.tensor, early->tensor, early->first});
    }
    if (!is_parameter) all.statistics.insert(parameter.tensor);
    (is_drawn ? all.drawn : all.given).insert(parameter.tensor);
  }
  return all;
}

}  // namespace tritonsmith::gym
