#include "gym/referee/weights.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "gym/referee/operators.h"

namespace tritonsmith::gym {
namespace {

bool same_form(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
}

const PlanParameter* find_unused(const std::vector<PlanParameter>& parameters,
                                 const std::set<std::string>& used, auto fits) {
  for (const PlanParameter& parameter : parameters)
    if (!used.contains(parameter.name) && fits(parameter)) return &parameter;
  return nullptr;
}

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

}  // namespace

std::set<int> read_by_forward(const Plan& plan) {
  std::vector<int> read;
  for (const PlanStep& step : plan.steps) {
    if (step.phase != Phase::forward) continue;
    if (const auto* call = std::get_if<AtenCall>(&step.action)) {
      for (const Value& argument : call->args) append_tensors(argument, read);
      for (const auto& [name, argument] : call->kwargs) append_tensors(argument, read);
    } else if (const auto* launch = std::get_if<LaunchStep>(&step.action)) {
      for (const LaunchChoice& choice : launch->choices)
        for (const Value& argument : choice.arguments) append_tensors(argument, read);
    }
  }
  append_tensors(plan.outputs, read);
  return {read.begin(), read.end()};
}

std::vector<WeightPair> match_weights(const ModuleSide& reference, const ModuleSide& candidate) {
  std::vector<WeightPair> pairs;
  std::set<std::string> used;
  std::vector<const PlanParameter*> unmatched;
  const auto keep = [&](const PlanParameter& ours, const PlanParameter& theirs) {
    used.insert(theirs.name);
    pairs.push_back({.name = ours.name, .reference = ours.tensor, .candidate = theirs.tensor});
  };
  const auto theirs = [&](const PlanParameter& p) {
    return tensor_at(candidate.tensors, p.tensor);
  };
  for (const PlanParameter& ours : reference.plan.parameters) {
    const at::Tensor& weight = tensor_at(reference.tensors, ours.tensor);
    const auto* match = find_unused(candidate.plan.parameters, used, [&](const PlanParameter& p) {
      return p.name == ours.name && same_form(weight, theirs(p));
    });
    if (match != nullptr)
      keep(ours, *match);
    else
      unmatched.push_back(&ours);
  }
  for (const PlanParameter* ours : unmatched) {
    const at::Tensor& weight = tensor_at(reference.tensors, ours->tensor);
    const auto* match = find_unused(candidate.plan.parameters, used, [&](const PlanParameter& p) {
      return same_form(weight, theirs(p)) && at::equal(weight, theirs(p));
    });
    if (match != nullptr) keep(*ours, *match);
  }
  return pairs;
}

std::set<int> changeable_parameters(const Plan& reference, const Plan& candidate,
                                    const std::vector<WeightPair>& pairs) {
  std::map<int, int> counterpart;  // the reference's tensor -> the storage of the candidate's
  std::set<int> matched;
  for (const WeightPair& pair : pairs)
    matched.insert(counterpart[pair.reference] = storage_of(candidate, pair.candidate));
  const std::set<int> made = made_by_init(candidate);
  Sources sources = sources_of_init(candidate, matched);
  bool has_own = false;
  std::set<int> folded;
  for (const int index : read_by_forward(candidate)) {
    const int storage = storage_of(candidate, index);
    if (!made.contains(index) || matched.contains(storage)) continue;
    has_own = true;
    folded.merge(sources[storage]);
  }
  std::set<int> changeable;
  for (const PlanParameter& parameter : reference.parameters) {
    if (parameter.kind != ParameterKind::parameter) continue;
    const auto held = counterpart.find(parameter.tensor);
    const bool may_be_folded = held == counterpart.end() ? has_own : folded.contains(held->second);
    if (!may_be_folded) changeable.insert(parameter.tensor);
  }
  return changeable;
}

std::optional<VerdictError> bind_weights(const std::vector<WeightPair>& pairs,
                                         const TensorTable& reference, TensorTable& candidate) {
  for (const WeightPair& pair : pairs) {
    const at::Tensor& theirs = tensor_at(candidate, pair.candidate);
    if (at::has_internal_overlap(theirs) == at::MemOverlap::Yes)
      return VerdictError{
          .error_class = "overlapping_weight",
          .message = fmt::format("elements of {} share one memory (an expanded tensor?), so it "
                                 "cannot take the reference's values",
                                 pair.name)};
    theirs.copy_(tensor_at(reference, pair.reference));
  }
  return std::nullopt;
}

}  // namespace tritonsmith::gym
