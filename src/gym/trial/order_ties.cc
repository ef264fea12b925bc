#include "gym/trial/order_ties.h"

#include <ATen/ATen.h>

#include "gym/plan/analysis/returned_order.h"
#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::trial {
namespace {

bool are_comparable(const at::Tensor& got, const at::Tensor& expected, const at::Tensor& ranked,
                    std::int64_t dimension) {
  return got.defined() && expected.defined() && ranked.defined() &&
         got.sizes() == expected.sizes() && got.scalar_type() == expected.scalar_type() &&
         c10::isIntegralType(got.scalar_type(), false) && got.dim() == ranked.dim() &&
         got.dim() > 0 && dimension >= -got.dim() && dimension < got.dim() && !ranked.is_complex();
}

}  // namespace

at::Tensor are_orders(const at::Tensor& indices, const at::Tensor& ranked, std::int64_t dimension) {
  const at::Tensor is_there = indices.ge(0).logical_and_(indices.lt(ranked.size(dimension)));
  const at::Tensor repeats =
      std::get<0>(indices.sort(dimension)).diff(1, dimension).eq(0).any(dimension, true);
  return is_there.all(dimension, true).logical_and_(repeats.logical_not());
}

at::Tensor names_equal_numbers(const at::Tensor& got, const at::Tensor& expected,
                               const at::Tensor& ranked, std::int64_t dimension) {
  const at::Tensor within = got.to(at::kLong).clamp(0, ranked.size(dimension) - 1);
  const at::Tensor numbers = tensors::computable(ranked);
  const at::Tensor one = numbers.gather(dimension, within),
                   other = numbers.gather(dimension, expected.to(at::kLong));
  return one.eq(other)
      .logical_or_(one.isnan().logical_and_(other.isnan()))
      .logical_and_(are_orders(got, ranked, dimension));
}

bool take_order_of_ties(const Sides& sides, const tensors::TensorTable& candidate,
                        const tensors::TensorTable& exact) {
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  if (ours.size() != theirs.size()) return true;
  bool all_are_orders = true;
  for (const plan::analysis::ReturnedOrder& order : plan::analysis::returned_orders(sides.task()))
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (ours[k] != order.output) continue;
      const at::Tensor &got = tensors::tensor_at(candidate, theirs[k]),
                       &ranked = tensors::tensor_at(sides.reference.tensors(), order.ranked);
      const at::Tensor expected = tensors::tensor_at(sides.reference.tensors(), ours[k]);
      if (!are_comparable(got, expected, ranked, order.dimension) || at::equal(got, expected))
        continue;
      all_are_orders =
          all_are_orders && are_orders(got, ranked, order.dimension).all().item<bool>();
      const at::Tensor is_tie = names_equal_numbers(got, expected, ranked, order.dimension);
      expected.copy_(at::where(is_tie, got, expected));
      if (exact.empty()) continue;
      const at::Tensor in_float64 = tensors::tensor_at(exact, ours[k]);
      if (in_float64.defined() && in_float64.sizes() == got.sizes())
        in_float64.copy_(at::where(is_tie, got, in_float64));
    }
  return all_are_orders;
}

}  // namespace tritonsmith::gym::trial
