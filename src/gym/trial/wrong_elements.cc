#include "gym/trial/wrong_elements.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>

#include <algorithm>

#include "gym/tensors/scalar_type.h"
#include "gym/trial/other_rounding.h"

namespace tritonsmith::gym::trial {
namespace {

// One element in so many may be wrong. More of them are no accident. One code that jumps moves a whole row of
// sums, so more of these may.
constexpr std::int64_t kOneWholeNumberIn = 64, kOneIn = 16;
// No search holds more elements than this.
constexpr std::int64_t kMostAsked = 1 << 16;

bool is_comparable(const at::Tensor& got, const at::Tensor& expected) {
  constexpr double exact_in_doubles = 9007199254740992;  // 2^53
  if (!got.defined() || !expected.defined() || got.sizes() != expected.sizes() ||
      got.scalar_type() != expected.scalar_type() || expected.is_complex())
    return false;
  return at::isFloatingType(expected.scalar_type()) || expected.element_size() < 8 ||
         expected.numel() == 0 ||
         !expected.to(at::kDouble).abs().ge(exact_in_doubles).any().item<bool>();
}

// Returns a copy of the values as flat doubles.
at::Tensor as_numbers(const at::Tensor& tensor) {
  return tensors::computable(tensor).to(at::kDouble, false, true).reshape({-1});
}

std::int64_t rows_of(const at::Tensor& tensor) {
  if (tensor.dim() == 0 || tensor.numel() == 0) return 1;
  return tensor.dim() == 1 ? tensor.numel() : tensor.numel() / tensor.size(-1);
}

// Returns the unit of what an element of the output may be off: the smaller one of KernelBench's and of the
// budget's around the exact result.
double unit_of(const at::Tensor& expected, compare::AbsoluteUnit unit) {
  const double rms =
      at::where(expected.isfinite(), expected, 0).square().mean().sqrt().item<double>();
  const double budget = rms + compare::kToleranceRules.budget_floor;
  return unit == compare::AbsoluteUnit::one ? std::min(1.0, budget) : budget;
}

at::Tensor wrong_mask(const at::Tensor& got, const at::Tensor& expected,
                      const ElementValues& allowed) {
  const at::Tensor same = got.eq(expected).logical_or_(got.isnan().logical_and_(expected.isnan()));
  if (allowed.tolerance == 0) return same.logical_not();
  const at::Tensor near =
      (got - expected).abs().le((expected.abs() + allowed.unit) * allowed.tolerance);
  return near.logical_and_(expected.isfinite()).logical_or_(same).logical_not();
}

}  // namespace

std::vector<at::Tensor> flat_outputs(const plan::Value& outputs,
                                     const tensors::TensorTable& tensors) {
  std::vector<int> indices;
  plan::append_tensors(outputs, indices);
  std::vector<at::Tensor> flat;
  for (const int index : indices) flat.push_back(tensors::tensor_at(tensors, index));
  return flat;
}

std::vector<ElementValues> few_wrong_elements(const std::vector<at::Tensor>& candidate,
                                              const std::vector<at::Tensor>& reference,
                                              const compare::CompareOptions& how) {
  if (candidate.size() != reference.size()) return {};
  std::vector<ElementValues> few;
  std::int64_t all = 0;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    if (!is_comparable(candidate[k], reference[k])) return {};
    if (reference[k].numel() == 0) continue;
    const at::Tensor got = as_numbers(candidate[k]), expected = as_numbers(reference[k]);
    ElementValues wrong{.output = k, .rows = rows_of(reference[k]), .numel = reference[k].numel()};
    if (reference[k].is_floating_point()) {
      wrong.tolerance = how.tolerance.value;
      wrong.unit = unit_of(expected, how.unit);
    }
    wrong.elements = wrong_mask(got, expected, wrong).nonzero().reshape({-1}).cpu();
    const std::int64_t count = wrong.elements.numel();
    all += count;
    const std::int64_t one_in = wrong.tolerance == 0 ? kOneWholeNumberIn : kOneIn;
    expected.zero_();  // nothing expected stays in memory that a candidate may get
    if (count > wrong.numel / one_in || all > kMostAsked) return {};
    if (count == 0) continue;
    wrong.values = got.index_select(0, wrong.elements.to(got.device())).cpu();
    few.push_back(std::move(wrong));
  }
  return few;
}

std::vector<ElementValues> values_at(const std::vector<ElementValues>& elements,
                                     const std::vector<at::Tensor>& outputs) {
  std::vector<ElementValues> values;
  for (const ElementValues& each : elements) {
    if (each.output >= outputs.size() || !outputs[each.output].defined() ||
        outputs[each.output].numel() != each.numel)
      return {};
    const at::Tensor numbers = as_numbers(outputs[each.output]);
    ElementValues found = each;
    found.values = numbers.index_select(0, each.elements.to(numbers.device())).cpu();
    numbers.zero_();
    values.push_back(std::move(found));
  }
  return values;
}

void write_values(const std::vector<ElementValues>& values, const Sides& sides,
                  const tensors::TensorTable& exact) {
  std::vector<int> indices;
  plan::append_tensors(sides.task().outputs, indices);
  const OtherRounding rounding(sides.config.task, {});
  const auto write = [](const ElementValues& each, const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() != each.numel ||
        at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
      return;
    const at::Tensor numbers = as_numbers(tensor);
    numbers.index_copy_(0, each.elements.to(numbers.device()), each.values.to(numbers.device()));
    tensor.copy_(numbers.reshape(tensor.sizes()));
    numbers.zero_();
  };
  for (const ElementValues& each : values) {
    const int index = indices.at(each.output);
    if (!rounding.is_made(index)) continue;
    write(each, tensors::tensor_at(sides.reference.tensors(), index));
    if (!exact.empty()) write(each, tensors::tensor_at(exact, index));
  }
}

}  // namespace tritonsmith::gym::trial
