#include "train/adamw.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tritonsmith::train {
namespace {

struct Range {
  std::int64_t begin = 0, count = 0;
};

void update_range(FlatParameters& parameters, AdamWState& state, const AdamWOptions& options,
                  double learning_rate, double decay, Range range) {
  if (range.count == 0) return;
  const auto part = [&](const at::Tensor& flat) {
    return flat.narrow(0, range.begin, range.count);
  };
  // The kernel takes the count of updates as a tensor, this update included.
  const at::Tensor updates =
      at::full({}, static_cast<double>(state.updates), state.first.options());
  at::_fused_adamw_({part(parameters.values())}, {part(parameters.gradients())},
                    {part(state.first)}, {part(state.second)}, {}, {updates}, learning_rate,
                    options.beta1, options.beta2, decay, options.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false);
}

}  // namespace

AdamWState AdamWState::zeros_like(const FlatParameters& parameters) {
  return {.first = at::zeros_like(parameters.values()),
          .second = at::zeros_like(parameters.values())};
}

void adamw_update(FlatParameters& parameters, AdamWState& state, const AdamWOptions& options,
                  double learning_rate) {
  const at::NoGradGuard no_grad;
  state.updates += 1;
  const std::int64_t decayed = parameters.decayed();
  const std::int64_t total = parameters.values().numel();
  update_range(parameters, state, options, learning_rate, options.weight_decay, {0, decayed});
  update_range(parameters, state, options, learning_rate, 0, {decayed, total - decayed});
}

double clip_gradients(const FlatParameters& parameters, double max_norm) {
  const at::NoGradGuard no_grad;
  // In rows of fixed size: the sum is the same for every number of threads.
  const at::Tensor rows = parameters.gradients().view({-1, FlatParameters::kRow}).norm(2, 1);
  const double norm = rows.to(at::kCPU, at::kDouble).norm().item<double>();
  if (max_norm > 0 && std::isfinite(norm) && norm > max_norm)
    parameters.gradients().mul_(max_norm / norm);
  return norm;
}

}  // namespace tritonsmith::train
