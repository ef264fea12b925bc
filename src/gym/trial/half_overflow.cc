#include "gym/trial/half_overflow.h"

#include <ATen/ATen.h>

#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::trial {

bool only_overflows(const Sides& sides, const tensors::TensorTable& exact,
                    const compare::CompareOptions& how) {
  constexpr double large = 65504.0 / 64;
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  if (exact.empty() || ours.size() != theirs.size()) return false;
  tensors::TensorTable candidate = sides.candidate.tensors();
  bool overflows = false;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor &expected = tensors::tensor_at(sides.reference.tensors(), ours[k]),
                     &in_float64 = tensors::tensor_at(exact, ours[k]);
    at::Tensor& got = tensors::tensor_at(candidate, theirs[k]);
    if (expected.scalar_type() != at::kHalf || !got.defined() || got.sizes() != expected.sizes() ||
        got.scalar_type() != at::kHalf || !in_float64.defined() ||
        in_float64.sizes() != expected.sizes())
      continue;
    const at::Tensor is_overflow = at::isfinite(got)
                                       .logical_not_()
                                       .logical_and_(at::isfinite(expected))
                                       .logical_and_(in_float64.abs().ge(large));
    overflows = overflows || is_overflow.any().item<bool>();
    got = at::where(is_overflow, expected, got);
  }
  if (!overflows) return false;
  Numerics ignored;
  return !compare::compare_outputs({sides.config.candidate.outputs, candidate},
                                   {sides.task().outputs, sides.reference.tensors()}, exact, how,
                                   ignored);
}

Finding overflow_warning(Perturbation kind) {
  return {.rule = "numerically_weak",
          .severity = Severity::warn,
          .message = "with " + std::string(what_is_done(kind)) +
                     ", fp16 overflows on the way to results above 1,023, where PyTorch's stay "
                     "finite: compute in float32, and round at the end"};
}

}  // namespace tritonsmith::gym::trial
