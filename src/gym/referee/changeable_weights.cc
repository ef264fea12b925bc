#include "gym/referee/changeable_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <optional>

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

int storage_of(const Plan& plan, int tensor) {
  return plan.tensors.at(static_cast<std::size_t>(tensor)).storage;
}

// By storage: which of the `roots` its content follows from.
using Sources = std::map<int, std::set<int>>;

Sources sources_of_init(const Plan& plan, const std::set<int>& roots) {
  Sources sources;
  for (const int root : roots) sources[root] = {root};
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (step.phase != Phase::init || call == nullptr) continue;
    std::vector<int> read;
    for (const Value& argument : call->args) append_tensors(argument, read);
    for (const auto& [name, argument] : call->kwargs) append_tensors(argument, read);
    if (only_allocates(call->op)) continue;
    for (const int output : call->outputs)
      for (const int input : read)
        if (output >= 0) {
          const std::set<int> from = sources[storage_of(plan, input)];
          sources[storage_of(plan, output)].insert(from.begin(), from.end());
        }
  }
  return sources;
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
  Sources sources = sources_of_init(plan, storages);
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

bool is_constant(const at::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 && tensor.is_floating_point() &&
         tensor.eq(tensor.flatten()[0]).all().item<bool>();
}

bool alike_but_for_ones(at::IntArrayRef a, at::IntArrayRef b) {
  std::vector<std::int64_t> left, right;
  std::ranges::copy_if(a, std::back_inserter(left), [](std::int64_t size) { return size != 1; });
  std::ranges::copy_if(b, std::back_inserter(right), [](std::int64_t size) { return size != 1; });
  return left == right;
}

// A candidate without the parameter may have made the same constant to pack it: those of its
// constructor's, in order, that a tensor of its own follows from.
class Twins {
 public:
  Twins(const ModuleSide& candidate, const std::vector<int>& own, const std::set<int>& known)
      : candidate_(candidate) {
    std::vector<int> made;
    std::set<int> storages;
    for (const PlanStep& step : candidate.plan.steps) {
      if (step.phase != Phase::init) continue;
      for (const int output : constants_of(step))
        if (!known.contains(storage_of(candidate.plan, output))) {
          made.push_back(output);
          storages.insert(storage_of(candidate.plan, output));
        }
    }
    const std::set<int> folded = folded_into(candidate.plan, own, storages);
    for (const int output : made)
      if (folded.contains(storage_of(candidate.plan, output))) constants_.push_back(output);
  }

  std::optional<int> take(const at::Tensor& weight) {
    const auto is_twin = [&](int index) {
      const at::Tensor& made = tensor_at(candidate_.tensors, index);
      return is_constant(made) && alike_but_for_ones(made.sizes(), weight.sizes()) &&
             made.scalar_type() == weight.scalar_type() && made.is_non_overlapping_and_dense() &&
             made.flatten()[0].equal(weight.flatten()[0]);
    };
    const auto at = std::ranges::find_if(constants_, is_twin);
    if (at == constants_.end()) return std::nullopt;
    const int taken = *at;
    std::erase(constants_, taken);
    return taken;
  }

 private:
  static std::vector<int> constants_of(const PlanStep& step) {
    if (const auto* constant = std::get_if<ConstantStep>(&step.action)) return {constant->output};
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || call->outputs.empty() || call->outputs[0] < 0) return {};
    const std::string_view name = aten_base_name(call->op);
    const bool fills = name == "fill_" || name == "zero_";
    const bool makes = only_allocates(call->op) && !leaves_unwritten(call->op);
    return fills || makes ? std::vector<int>{call->outputs[0]} : std::vector<int>{};
  }

  const ModuleSide& candidate_;
  std::vector<int> constants_;
};

// How many elements of a value a module's own tensors hold, beside those that are known to stand
// for one of the reference's weights. Who ignores a weight may well have a table, but not of its
// values as many times as it would take to hold it.
class Room {
 public:
  Room(const ModuleSide& candidate, const std::vector<int>& own) : candidate_(candidate) {
    for (const int index : own) tensors_.emplace(storage_of(candidate.plan, index), index);
  }

  // The weight's values are those that own tensors take from this one.
  void give_to(const at::Tensor& weight, int tensor) {
    const int root = storage_of(candidate_.plan, tensor);
    const Sources sources = sources_of_init(candidate_.plan, {root});
    for (const auto& [storage, index] : tensors_)
      if (const auto from = sources.find(storage);
          from != sources.end() && from->second.contains(root))
        given_[{storage, value_of(weight)}] += weight.numel();
  }

  // Whether the weight may lie in it; then it does, and there is less for the next.
  bool take(const at::Tensor& weight) {
    const double value = value_of(weight);
    std::int64_t free = -taken_[value];
    for (const auto& [storage, index] : tensors_)
      free += std::max<std::int64_t>(0, held(storage, index, value) - given_[{storage, value}]);
    if (free < weight.numel()) return false;
    taken_[value] += weight.numel();
    return true;
  }

 private:
  using Key = std::pair<int, double>;  // storage, value

  static double value_of(const at::Tensor& weight) {
    return weight.flatten()[0].to(at::kDouble).item<double>();
  }

  // In all of the storage: of a packed one forward may read parts.
  std::int64_t held(int storage, int index, double value) {
    const auto [place, is_new] = held_.try_emplace({storage, value}, 0);
    if (!is_new) return place->second;
    const at::Tensor& tensor = tensor_at(candidate_.tensors, index);
    const auto bytes = static_cast<std::int64_t>(tensor.storage().nbytes());
    at::Tensor all = tensor.as_strided({bytes / tensor.element_size()}, {1}, 0);
    const at::Tensor wanted = at::full({}, value, at::kDouble).to(tensor.scalar_type());
    if (tensor.is_floating_point() && tensor.element_size() == 1) all = all.to(at::kFloat);
    return place->second = all.eq(wanted.to(at::kDouble).item<double>()).sum().item<std::int64_t>();
  }

  const ModuleSide& candidate_;
  std::map<int, int> tensors_;  // by storage: one of those that lie there
  std::map<Key, std::int64_t> held_, given_;
  std::map<double, std::int64_t> taken_;
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
  // What a shell's forward reads no plan says.
  const bool is_known = reference.plan.unplanned.empty();
  Twins twins(candidate, own, matched);
  Room room(candidate, own);
  std::vector<int> unseen;  // of no tensor that the candidate is known to have
  ChangeableWeights all;
  for (const PlanParameter& parameter : reference.plan.parameters) {
    const at::Tensor& weight = tensor_at(reference.tensors, parameter.tensor);
    if (!is_constant(weight) || folded_by_us.contains(storage_of(reference.plan, parameter.tensor)))
      continue;
    std::optional<int> early;
    if (const auto theirs = held.find(parameter.tensor); theirs != held.end()) {
      if (folded.contains(storage_of(candidate.plan, theirs->second))) early = theirs->second;
    } else if (parameter.kind != ParameterKind::parameter) {
      continue;
    } else if (!own.empty()) {
      early = twins.take(weight);
      if (!early) {
        unseen.push_back(parameter.tensor);
        continue;
      }
    }
    if (early) {
      room.give_to(weight, *early);
      const auto step = made_at(candidate.plan, *early);
      if (!step || !is_known) continue;
      all.early.push_back({*step, parameter.tensor, *early});
    }
    all.tensors.insert(parameter.tensor);
  }
  for (const int tensor : unseen)
    if (!room.take(tensor_at(reference.tensors, tensor))) all.tensors.insert(tensor);
  return all;
}

}  // namespace tritonsmith::gym
