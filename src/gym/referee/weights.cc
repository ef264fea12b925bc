#include "gym/referee/weights.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gym/referee/chance.h"
#include "gym/referee/operators.h"
#include "gym/referee/twins.h"

namespace tritonsmith::gym {
namespace {

// Memory to which the constructor gave what it calculated of other tensors.
std::set<int> calculated_storages(const Plan& plan) {
  std::set<int> calculated;
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::init || call->outputs.empty() ||
        call->outputs[0] < 0)
      continue;
    const int made = storage_of(plan, call->outputs[0]);
    std::vector<int> read;
    for (const Value& argument : call->args) append_tensors(argument, read);
    const bool reads_calculated = std::ranges::any_of(
        read, [&](int index) { return calculated.contains(storage_of(plan, index)); });
    const bool reads_others =
        std::ranges::any_of(read, [&](int index) { return storage_of(plan, index) != made; });
    if (reads_calculated || (reads_others && !only_arranges(call->op))) calculated.insert(made);
  }
  return calculated;
}

bool same_form(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
}

// A bias of zeros is still zeros when a norm's is folded into it, a weight what it was when
// adapters are added that begin with zeros.
bool follows_from_an_equal(const ModuleSide& side, int tensor, const at::Tensor& weight) {
  std::set<int> equal;
  for (const PlanStep& step : side.plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::init) continue;
    for (const int output : call->outputs) {
      if (output < 0 || storage_of(side.plan, output) == storage_of(side.plan, tensor)) continue;
      const at::Tensor& made = tensor_at(side.tensors, output);
      if (made.defined() && made.sizes() == weight.sizes() &&
          at::equal(made.to(weight.scalar_type()), weight))  // before a cast, too
        equal.insert(storage_of(side.plan, output));
    }
  }
  return !equal.empty() && !folded_into(side.plan, {tensor}, equal).empty();
}

const PlanParameter* find_unused(const std::vector<PlanParameter>& parameters,
                                 const std::set<std::string>& used, auto fits) {
  for (const PlanParameter& parameter : parameters)
    if (!used.contains(parameter.name) && fits(parameter)) return &parameter;
  return nullptr;
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
  const std::set<int> calculated = calculated_storages(candidate.plan);
  for (const PlanParameter* ours : unmatched) {
    const at::Tensor& weight = tensor_at(reference.tensors, ours->tensor);
    const bool says_little = is_constant(weight);
    const auto* match = find_unused(candidate.plan.parameters, used, [&](const PlanParameter& p) {
      return p.kind == ours->kind && same_form(weight, theirs(p)) && at::equal(weight, theirs(p)) &&
             !(calculated.contains(storage_of(candidate.plan, p.tensor)) &&
               (says_little || follows_from_an_equal(candidate, p.tensor, weight)));
    });
    if (match != nullptr) keep(*ours, *match);
  }
  return pairs;
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
