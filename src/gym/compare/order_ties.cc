#include "gym/compare/order_ties.h"

#include <ATen/ATen.h>

#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::compare {

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

}  // namespace tritonsmith::gym::compare
