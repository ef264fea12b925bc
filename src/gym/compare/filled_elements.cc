#include <ATen/ATen.h>

#include "gym/compare/compare.h"
#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::compare {

at::Tensor filled_elements(const at::Tensor& reference, const std::vector<double>& fills) {
  if (fills.empty() || !reference.is_floating_point() || reference.element_size() == 1) return {};
  at::Tensor filled;
  for (const double number : fills) {
    if (!tensors::is_finite_in(reference.scalar_type(), number)) continue;
    const at::Tensor here = reference.eq(at::scalar_tensor(number, reference.options()));
    filled = filled.defined() ? filled.logical_or(here) : here;
  }
  return filled.defined() && filled.any().item<bool>() ? filled : at::Tensor();
}

}  // namespace tritonsmith::gym::compare
