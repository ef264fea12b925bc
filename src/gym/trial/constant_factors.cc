#include "gym/trial/constant_factors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "gym/language/registry/languages.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::analysis::storage_of;
using plan::operators::Trait;

// Returns the matrices that a vendor's operator multiplies. A bias is added and no factor, and a mask
// of an attention is none either.
std::vector<int> factors_of(const plan::Plan& plan, const plan::AtenCall& call) {
  if (!plan::operators::is_vendor_grade(call.op)) return {};
  const bool adds = plan::operators::is(call.op, Trait::adds_to_product);
  const bool is_attention = plan::operators::is(call.op, Trait::attention);
  std::vector<int> read;
  const std::size_t end =
      is_attention ? std::min<std::size_t>(3, call.args.size()) : call.args.size();
  for (std::size_t k = adds ? 1 : 0; k < end; ++k) plan::append_tensors(call.args[k], read);
  std::erase_if(read, [&](int index) {
    return plan.tensors.at(static_cast<std::size_t>(index)).shape.size() < 2;
  });
  return read;
}

// Calls `visit(step index, call, factor)` for each factor of forward.
template <typename Visit>
void for_each_factor(const plan::Plan& plan, Visit visit) {
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const auto* call = std::get_if<plan::AtenCall>(&plan.steps[k].action);
    if (call == nullptr || plan.steps[k].phase != plan::Phase::forward) continue;
    for (const int factor : factors_of(plan, *call)) visit(static_cast<int>(k), *call, factor);
  }
}

// The inputs, and the weights that are drawn or that a task's constructor makes. A trial changes them,
// where it can.
std::vector<int> changed_by_trials(const plan::Plan& plan) {
  std::vector<int> tensors;
  for (const plan::Value& input : plan.inputs) plan::append_tensors(input, tensors);
  const std::set<int> drawn = plan::analysis::drawn_storages(plan, plan::Phase::init);
  for (const plan::PlanParameter& weight : plan.parameters)
    if (drawn.contains(storage_of(plan, weight.tensor)) ||
        weight.kind == plan::ParameterKind::parameter)
      tensors.push_back(weight.tensor);
  return tensors;
}

std::vector<float> sample_of(const at::Tensor& tensor) {
  constexpr std::int64_t most = 4096;
  const at::Tensor all = tensor.reshape({-1});
  const std::int64_t distance = std::max<std::int64_t>(1, all.numel() / most);
  const at::Tensor some =
      all.slice(0, 0, all.numel(), distance).to(at::kCPU, at::kFloat).contiguous();
  const float* values = some.const_data_ptr<float>();
  return {values, values + some.numel()};
}

// Says whether `other` is `scale` times `one`, up to a thousandth of the largest element.
bool are_alike(const std::vector<float>& one, const std::vector<float>& other, double scale = 1) {
  constexpr double allowed = 1e-3;
  double largest = 0;
  for (const float value : one) largest = std::max(largest, std::abs(scale * value));
  return one.size() == other.size() && std::ranges::equal(one, other, [&](float a, float b) {
           return std::abs(scale * a - b) <= allowed * largest;
         });
}

// Says whether `other` is `one` times any number but 0. The number is the one that fits best.
bool are_alike_up_to_scale(const std::vector<float>& one, const std::vector<float>& other) {
  if (one.size() != other.size()) return false;
  double squares = 0, products = 0;
  for (std::size_t k = 0; k < one.size(); ++k) {
    squares += double{one[k]} * one[k];
    products += double{one[k]} * other[k];
  }
  const double scale = products / squares;
  return are_alike(one, other) ||
         (std::isfinite(scale) && scale != 0 && are_alike(one, other, scale));
}

FactorSamples::Sampled samples_of(const plan::Plan& plan, const tensors::TensorTable& tensors) {
  FactorSamples::Sampled samples;
  const auto take = [&](int index) {
    const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(index));
    if (tensor.defined() && tensor.numel() > 1 && !tensor.is_complex())
      samples.try_emplace(index, sample_of(tensor));
  };
  for_each_factor(plan, [&](int, const plan::AtenCall&, int factor) { take(factor); });
  for (const int index : changed_by_trials(plan)) take(index);
  return samples;
}

// Follows what a launch may load and store into `marked`, a set of storages.
void follow(const plan::Plan& plan, const plan::LaunchStep& launch, std::set<int>& marked) {
  for (const plan::LaunchChoice& choice : launch.choices) {
    const plan::PlanKernel& kernel = plan.kernels.at(static_cast<std::size_t>(choice.kernel));
    const language::Language& language = language::language_of(kernel);
    const auto storages = [&](const std::vector<int>& indices) {
      std::vector<int> given;
      for (const int index : indices)
        if (index < std::ssize(choice.arguments))
          plan::append_tensors(choice.arguments[static_cast<std::size_t>(index)], given);
      std::set<int> found;
      for (const int index : given) found.insert(storage_of(plan, index));
      return found;
    };
    if (std::ranges::any_of(storages(language.loaded_arguments(kernel.code)),
                            [&](int storage) { return marked.contains(storage); }))
      marked.merge(storages(language.stored_arguments(kernel.code)));
  }
}

// Returns the storages that may follow from these.
std::set<int> followers_of(const plan::Plan& plan, std::set<int> marked) {
  for (const plan::PlanStep& step : plan.steps) {
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action))
      follow(plan, *launch, marked);
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || plan::operators::only_allocates(call->op)) continue;
    if (std::ranges::any_of(plan::tensors_given_to(*call),
                            [&](int index) { return marked.contains(storage_of(plan, index)); }))
      for (const int output : call->outputs)
        if (output >= 0) marked.insert(storage_of(plan, output));
  }
  return marked;
}

}  // namespace

FactorSamples sample_factors(const Sides& sides) {
  return {.candidate = samples_of(sides.config.candidate, sides.candidate.tensors()),
          .reference = samples_of(sides.config.task, sides.reference.tensors())};
}

ConstantFactors::ConstantFactors(const plan::Plan& candidate, const plan::Plan& reference,
                                 Policy policy)
    : candidate_(candidate), candidate_side_(candidate), reference_side_(reference) {
  if (policy != Policy::fused || !reference.unplanned.empty()) return;
  for_each_factor(candidate, [&](int, const plan::AtenCall&, int) { watches_ = true; });
}

void ConstantFactors::note(const FactorSamples& samples) {
  ++notes_;
  candidate_side_.note(samples.candidate);
  reference_side_.note(samples.reference);
}

void ConstantFactors::Side::note(const FactorSamples::Sampled& samples) {
  if (!has_begun_) same_ = alike_ = samples;
  has_begun_ = true;
  const auto keep = [&](FactorSamples::Sampled& kept, auto are) {
    std::erase_if(kept, [&](const auto& sampled) {
      const auto other = samples.find(sampled.first);
      return other == samples.end() || !are(sampled.second, other->second);
    });
  };
  keep(same_, [](const auto& one, const auto& other) { return are_alike(one, other); });
  keep(alike_, are_alike_up_to_scale);
}

int ConstantFactors::Side::constant_step() const {
  std::set<int> unchanged;  // storages of what the trials did not change
  for (const int index : changed_by_trials(plan_))
    if (same_.contains(index)) unchanged.insert(storage_of(plan_, index));
  unchanged = followers_of(plan_, std::move(unchanged));
  int found = -1;
  for_each_factor(plan_, [&](int step, const plan::AtenCall& call, int factor) {
    const auto sampled = alike_.find(factor);
    if (found >= 0 || sampled == alike_.end() || unchanged.contains(storage_of(plan_, factor)))
      return;
    // A product with zeros is no work. An attention with zeros is a mean.
    const bool is_zero =
        std::ranges::all_of(sampled->second, [](float value) { return value == 0; });
    if (!is_zero || plan::operators::is(call.op, Trait::attention)) found = step;
  });
  return found;
}

std::vector<Finding> ConstantFactors::findings() const {
  constexpr int least = 2;
  if (!watches_ || notes_ < least || reference_side_.constant_step() >= 0) return {};
  const int step = candidate_side_.constant_step();
  if (step < 0) return {};
  const plan::PlanStep& at = candidate_.steps.at(static_cast<std::size_t>(step));
  return {
      {.rule = "torch_compute",
       .severity = Severity::reject,
       .line = at.line,
       .message = fmt::format(
           "forward computes {} in torch with a matrix that is the same whatever the inputs and "
           "weights are, up to one number for all its elements, and the task has no such product; "
           "write this work as a kernel. Policy open allows it",
           std::get<plan::AtenCall>(at.action).op)}};
}

}  // namespace tritonsmith::gym::trial
