#include "gym/trial/perturb/input_content.h"

#include <ATen/ATen.h>

namespace tritonsmith::gym::trial {

bool holds_one_value(const at::Tensor& tensor) {
  return tensor.eq(tensor.reshape({-1})[0]).all().item<bool>();
}

bool is_mask(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBool) return true;
  const at::Tensor low = tensor.min(), high = tensor.max();
  return tensor.eq(low).logical_or_(tensor.eq(high)).all().item<bool>();
}

bool hides(const at::Tensor& tensor) {
  return tensor.eq(0).logical_or_(tensor.isinf()).any().item<bool>();
}

bool holds_whole_numbers(const at::Tensor& tensor) {
  return c10::isIntegralType(tensor.scalar_type(), false);
}

bool holds_whole_values(const at::Tensor& tensor) {
  return tensor.eq(tensor.floor()).all().item<bool>();
}

bool has_marks(const at::Tensor& numbers) {
  const at::Tensor all = numbers.reshape({-1}), is_below = all.lt(0);
  const at::Tensor below = all.masked_select(is_below);
  if (below.numel() == 0 || below.numel() == all.numel()) return false;
  return holds_one_value(below) && !holds_one_value(all.masked_select(is_below.logical_not())) &&
         !all.diff().gt(0).all().item<bool>();
}

bool is_changeable(const at::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 &&
         (tensor.is_complex() || holds_whole_numbers(tensor) || tensor.scalar_type() == at::kBool ||
          (tensor.is_floating_point() && tensor.element_size() > 1));
}

std::vector<double> elements_between_bounds(const at::Tensor& elements, const at::Tensor& bounds) {
  constexpr std::int64_t most = 256;
  const at::Tensor all = elements.reshape({-1});
  const std::int64_t stride = 1 + (all.numel() - 1) / most;
  at::Tensor some = all.slice(0, 0, all.numel(), stride);
  some = some.masked_select(some.ge(bounds.min()).logical_and_(some.le(bounds.max())));
  some = some.to(at::kCPU, at::kDouble).contiguous();
  return {some.const_data_ptr<double>(), some.const_data_ptr<double>() + some.numel()};
}

}  // namespace tritonsmith::gym::trial
