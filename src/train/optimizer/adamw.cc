#include "train/optimizer/adamw.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "base/check.h"
#include "model/cublas/cublas.h"
#include "model/weights/flat_layout.h"

namespace tritonsmith::train {
namespace {

struct Range {
  std::int64_t begin = 0, count = 0;
};

void update_range(const FlatPart& flat_part, AdamWState& state, const AdamWOptions& options,
                  double learning_rate, double decay, Range range) {
  if (range.count == 0) return;
  const auto part = [&](const at::Tensor& flat) {
    return flat.narrow(0, range.begin, range.count);
  };
  // The kernel takes the count of updates as a tensor, this update included.
  const at::Tensor updates =
      at::full({}, static_cast<double>(state.updates), state.first.options());
  at::_fused_adamw_({part(flat_part.values)}, {part(flat_part.gradients)}, {part(state.first)},
                    {part(state.second)}, {}, {updates}, learning_rate, options.beta1,
                    options.beta2, decay, options.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false);
}

void update_by_kernel(const FlatPart& part, AdamWState& state, const AdamWOptions& options,
                      const AdamWStep& step) {
  const auto updates = static_cast<double>(state.updates);
  const auto narrow = [](double value) { return static_cast<float>(value); };
  model::cuda::kernels()->adamw(
      {.weights = part.values.mutable_data_ptr<float>(),
       .gradients = part.gradients.const_data_ptr<float>(),
       .first = state.first.mutable_data_ptr<float>(),
       .second = state.second.mutable_data_ptr<float>(),
       .half = step.half.defined() ? static_cast<model::cuda::Half*>(step.half.mutable_data_ptr())
                                   : nullptr,
       .count = part.values.numel(),
       .decayed = part.decayed,
       .learning_rate = narrow(step.learning_rate),
       .beta1 = narrow(options.beta1),
       .beta2 = narrow(options.beta2),
       .epsilon = narrow(options.epsilon),
       .weight_decay = narrow(options.weight_decay),
       .correction1 = narrow(1.0 - std::pow(options.beta1, updates)),
       .correction2 = narrow(1.0 - std::pow(options.beta2, updates)),
       .gradient_scale = narrow(step.gradient_scale),
       .type = step.half.defined() && step.half.scalar_type() == at::kHalf
                   ? model::cuda::HalfType::float16
                   : model::cuda::HalfType::bfloat16},
      model::current_stream(part.values.device()));
}

}  // namespace

AdamWState AdamWState::zeros_like(const FlatPart& part) {
  return {.first = at::zeros_like(part.values), .second = at::zeros_like(part.values)};
}

void adamw_update(const FlatPart& part, AdamWState& state, const AdamWOptions& options,
                  const AdamWStep& step) {
  const at::NoGradGuard no_grad;
  state.updates += 1;
  if (part.values.is_cuda() && model::cuda::kernels() != nullptr)
    return update_by_kernel(part, state, options, step);
  CHECK(!step.half.defined(), "only our own kernel writes a 16-bit copy");
  if (step.gradient_scale != 1) part.gradients.mul_(step.gradient_scale);
  const std::int64_t decayed = part.decayed;
  const std::int64_t total = part.values.numel();
  update_range(part, state, options, step.learning_rate, options.weight_decay, {0, decayed});
  update_range(part, state, options, step.learning_rate, 0, {decayed, total - decayed});
}

double norm_of(const at::Tensor& gradients) {
  const at::NoGradGuard no_grad;
  // Rows have a fixed size, so the sum is the same for every number of threads.
  const at::Tensor rows = gradients.view({-1, model::FlatLayout::kRow}).norm(2, 1);
  return rows.to(at::kDouble).norm().item<double>();
}

Clipping clipping_of(double norm, double max_norm) {
  const bool is_long = max_norm > 0 && std::isfinite(norm) && norm > max_norm;
  return {.norm = norm, .scale = is_long ? max_norm / norm : 1.0};
}

Clipping clipping(const FlatParameters& parameters, double max_norm) {
  return clipping_of(norm_of(parameters.gradients()), max_norm);
}

}  // namespace tritonsmith::train
