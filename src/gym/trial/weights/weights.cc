#include "gym/trial/weights/weights.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/weights/weight_copies.h"

namespace tritonsmith::gym::trial {
namespace {

// Returns the memory to which the constructor gave values that it calculated from other tensors.
std::set<int> calculated_storages(const plan::Plan& plan) {
  std::set<int> calculated;
  for (const plan::PlanStep& step : plan.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::init || call->outputs.empty() ||
        call->outputs[0] < 0)
      continue;
    const int made = plan::analysis::storage_of(plan, call->outputs[0]);
    std::vector<int> read;
    for (const plan::Value& argument : call->args) plan::append_tensors(argument, read);
    const bool reads_calculated = std::ranges::any_of(read, [&](int index) {
      return calculated.contains(plan::analysis::storage_of(plan, index));
    });
    const bool reads_others = std::ranges::any_of(
        read, [&](int index) { return plan::analysis::storage_of(plan, index) != made; });
    if (reads_calculated || (reads_others && !plan::operators::only_arranges(call->op)))
      calculated.insert(made);
  }
  return calculated;
}

bool same_form(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
}

// True if the tensor follows from one with equal values. A bias of zeros is still zeros when
// a norm's bias is folded into it. A weight keeps its values when adapters are added that
// begin with zeros.
bool follows_from_an_equal(const ModuleSide& side, int tensor, const at::Tensor& weight) {
  std::set<int> equal;
  for (const plan::PlanStep& step : side.plan.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::init) continue;
    for (const int output : call->outputs) {
      if (output < 0 || plan::analysis::storage_of(side.plan, output) ==
                            plan::analysis::storage_of(side.plan, tensor))
        continue;
      const at::Tensor& made = tensors::tensor_at(side.tensors, output);
      if (made.defined() && made.sizes() == weight.sizes() &&
          at::equal(made.to(weight.scalar_type()), weight))  // before a cast, too
        equal.insert(plan::analysis::storage_of(side.plan, output));
    }
  }
  return !equal.empty() && !folded_into(side.plan, {tensor}, equal).empty();
}

const plan::PlanParameter* find_unused(const std::vector<plan::PlanParameter>& parameters,
                                       const std::set<std::string>& used, auto fits) {
  for (const plan::PlanParameter& parameter : parameters)
    if (!used.contains(parameter.name) && fits(parameter)) return &parameter;
  return nullptr;
}

}  // namespace

std::set<int> read_by_forward(const plan::Plan& plan) {
  std::vector<int> read;
  for (const plan::PlanStep& step : plan.steps) {
    if (step.phase != plan::Phase::forward) continue;
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action)) {
      const std::vector<int> given = plan::tensors_given_to(*call);
      read.insert(read.end(), given.begin(), given.end());
    } else if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action)) {
      for (const plan::LaunchChoice& choice : launch->choices)
        for (const plan::Value& argument : choice.arguments) plan::append_tensors(argument, read);
    }
  }
  plan::append_tensors(plan.outputs, read);
  return {read.begin(), read.end()};
}

std::vector<WeightPair> match_weights(const ModuleSide& reference, const ModuleSide& candidate) {
  std::vector<WeightPair> pairs;
  std::set<std::string> used;
  std::vector<const plan::PlanParameter*> unmatched;
  const auto keep = [&](const plan::PlanParameter& ours, const plan::PlanParameter& theirs) {
    used.insert(theirs.name);
    pairs.push_back({.name = ours.name, .reference = ours.tensor, .candidate = theirs.tensor});
  };
  const auto theirs = [&](const plan::PlanParameter& p) {
    return tensors::tensor_at(candidate.tensors, p.tensor);
  };
  for (const plan::PlanParameter& ours : reference.plan.parameters) {
    const at::Tensor& weight = tensors::tensor_at(reference.tensors, ours.tensor);
    const auto* match =
        find_unused(candidate.plan.parameters, used, [&](const plan::PlanParameter& p) {
          return p.name == ours.name && same_form(weight, theirs(p));
        });
    if (match != nullptr)
      keep(ours, *match);
    else
      unmatched.push_back(&ours);
  }
  const std::set<int> calculated = calculated_storages(candidate.plan);
  for (const plan::PlanParameter* ours : unmatched) {
    const at::Tensor& weight = tensors::tensor_at(reference.tensors, ours->tensor);
    const bool says_little = is_constant(weight);
    const auto* match =
        find_unused(candidate.plan.parameters, used, [&](const plan::PlanParameter& p) {
          return p.kind == ours->kind && same_form(weight, theirs(p)) &&
                 at::equal(weight, theirs(p)) &&
                 !(calculated.contains(plan::analysis::storage_of(candidate.plan, p.tensor)) &&
                   (says_little || follows_from_an_equal(candidate, p.tensor, weight)));
        });
    if (match != nullptr) keep(*ours, *match);
  }
  return pairs;
}

std::optional<VerdictError> bind_weights(const std::vector<WeightPair>& pairs,
                                         const tensors::TensorTable& reference,
                                         tensors::TensorTable& candidate) {
  for (const WeightPair& pair : pairs) {
    const at::Tensor& theirs = tensors::tensor_at(candidate, pair.candidate);
    if (at::has_internal_overlap(theirs) == at::MemOverlap::Yes)
      return VerdictError{
          .error_class = ErrorClass::overlapping_weight,
          .message = fmt::format("elements of `{}` share one memory (an expanded tensor?), so it "
                                 "cannot take the reference's values",
                                 pair.name)};
    theirs.copy_(tensors::tensor_at(reference, pair.reference));
  }
  return std::nullopt;
}

}  // namespace tritonsmith::gym::trial
