#include "gym/trial/weights/weight_copies.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

std::vector<int> made_by(const plan::PlanStep& step) {
  if (step.phase != plan::Phase::init) return {};
  if (const auto* constant = std::get_if<plan::ConstantStep>(&step.action))
    return {constant->output};
  const auto* call = std::get_if<plan::AtenCall>(&step.action);
  if (call == nullptr || plan::operators::leaves_unwritten(call->op)) return {};
  return call->outputs;
}

}  // namespace

bool is_constant(const at::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 && tensor.is_floating_point() &&
         tensor.eq(tensor.flatten()[0]).all().item<bool>();
}

std::set<int> folded_into(const plan::Plan& plan, const std::vector<int>& tensors,
                          const std::set<int>& storages) {
  plan::analysis::Sources sources = plan::analysis::sources_of(plan, plan::Phase::init, storages);
  std::set<int> folded;
  for (const int index : tensors) folded.merge(sources[plan::analysis::storage_of(plan, index)]);
  return folded;
}

WeightCopies::WeightCopies(const ModuleSide& candidate, const std::vector<int>& own,
                           const std::set<int>& known)
    : candidate_(candidate) {
  std::set<int> seen, storages;
  for (const plan::PlanStep& step : candidate.plan.steps)
    for (const int output : made_by(step)) {
      if (output < 0 || !tensor_of(output).defined() || !seen.insert(output).second) continue;
      if (!known.contains(plan::analysis::storage_of(candidate.plan, output)))
        made_.push_back(output);
    }
  for (const int output : made_)
    storages.insert(plan::analysis::storage_of(candidate.plan, output));
  const std::set<int> folded = folded_into(candidate.plan, own, storages);
  std::erase_if(made_, [&](int output) {
    const at::Tensor& made = tensor_of(output);
    return !folded.contains(plan::analysis::storage_of(candidate.plan, output)) ||
           !made.is_floating_point() || !made.is_non_overlapping_and_dense() || made.numel() == 0;
  });
  sources_ = plan::analysis::sources_of(candidate.plan, plan::Phase::init, storages);
  std::ranges::stable_partition(made_, [&](int output) {
    return sources_[plan::analysis::storage_of(candidate.plan, output)].size() <= 1;  // itself
  });
}

WeightCopies::ByteRange WeightCopies::bytes_of(const WeightCopy& copy, std::int64_t count) const {
  const at::Tensor& made = tensor_of(copy.tensor);
  const auto* begin = static_cast<const std::byte*>(made.const_data_ptr()) +
                      copy.first * static_cast<std::int64_t>(made.element_size());
  return {begin, begin + count * static_cast<std::int64_t>(made.element_size())};
}

bool WeightCopies::is_free(const ByteRange& range) const {
  return std::ranges::none_of(taken_, [&](const ByteRange& each) {
    return range.begin < each.end && each.begin < range.end;
  });
}

// Compares in the weight's type, because the weight may be rounded from the other tensor.
bool WeightCopies::equals(int tensor, const at::Tensor& weight) const {
  const at::Tensor& made = tensor_of(tensor);
  return made.numel() == weight.numel() &&
         made.flatten().to(weight.scalar_type()).equal(weight.flatten());
}

std::vector<std::int64_t> WeightCopies::parts_that_equal(int tensor,
                                                         const at::Tensor& weight) const {
  constexpr std::int64_t most = 64;
  const at::Tensor& made = tensor_of(tensor);
  const std::int64_t count = weight.numel(), parts = made.numel() / count;
  if (parts < 2 || parts > most || made.numel() % count != 0 || !made.is_contiguous()) return {};
  const at::Tensor equal =
      made.view({parts, count}).to(weight.scalar_type()).eq(weight.flatten()).all(1).cpu();
  std::vector<std::int64_t> first;
  for (std::int64_t part = 0; part < parts; ++part)
    if (equal[part].item<bool>()) first.push_back(part * count);
  return first;
}

bool WeightCopies::follows_a_copy(int tensor) const {
  const int storage = plan::analysis::storage_of(candidate_.plan, tensor);
  const auto from = sources_.find(storage);
  return from != sources_.end() && std::ranges::any_of(from->second, [&](int source) {
           return source != storage && taken_storages_.contains(source);
         });
}

bool WeightCopies::takes(const WeightCopy& copy, std::int64_t count) {
  const ByteRange range = bytes_of(copy, count);
  if (!is_free(range) || follows_a_copy(copy.tensor)) return false;
  taken_.push_back(range);
  taken_storages_.insert(plan::analysis::storage_of(candidate_.plan, copy.tensor));
  return true;
}

std::optional<WeightCopy> WeightCopies::take(const at::Tensor& weight) {
  for (const int made : made_)
    if (equals(made, weight) && takes({.tensor = made}, weight.numel())) return WeightCopy{made};
  for (const int made : made_)
    for (const std::int64_t first : parts_that_equal(made, weight))
      if (takes({made, first}, weight.numel())) return WeightCopy{made, first};
  return std::nullopt;
}

std::optional<WeightCopy> WeightCopies::take_origin(const at::Tensor& weight, int held) {
  const auto from = sources_.find(plan::analysis::storage_of(candidate_.plan, held));
  if (from == sources_.end()) return std::nullopt;
  for (const int made : made_)
    if (from->second.contains(plan::analysis::storage_of(candidate_.plan, made)) &&
        equals(made, weight) && takes({.tensor = made}, weight.numel()))
      return WeightCopy{made};
  return std::nullopt;
}

}  // namespace tritonsmith::gym::trial
