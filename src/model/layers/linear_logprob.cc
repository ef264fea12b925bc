#include "model/layers/linear_logprob.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "base/check.h"
#include "model/layers/cuda_layer.h"
#include "model/layers/fused_layer.h"

namespace tritonsmith::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kLogitsAtOnce = std::int64_t{1} << 24;

std::int64_t rows_at_once(std::int64_t vocabulary) {
  return std::max<std::int64_t>(1, kLogitsAtOnce / vocabulary);
}

at::ScalarType wide_type(const at::Tensor& t) {
  return t.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// Returns the log softmax of a chunk of rows, [n, V], in the wide type.
at::Tensor log_softmax_rows(const at::Tensor& hidden, const at::Tensor& head, double temperature) {
  const auto logits = at::matmul(hidden, head.t()).to(wide_type(hidden));
  return at::log_softmax(logits / temperature, -1);
}

// The computation in plain ATen, for a GPU that our kernels do not support.
struct AtenLinearLogprob : torch::autograd::Function<AtenLinearLogprob> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& hidden,
                               const at::Tensor& head_weight, const at::Tensor& targets,
                               double temperature) {
    const at::Tensor head = head_weight.to(hidden.scalar_type());
    const auto options = hidden.options().dtype(wide_type(hidden));
    const std::int64_t rows = hidden.size(0), step = rows_at_once(head.size(0));
    const at::Tensor logprob = at::empty({rows}, options), entropy = at::empty({rows}, options);
    for (std::int64_t begin = 0; begin < rows; begin += step) {
      const std::int64_t n = std::min(step, rows - begin);
      const auto logp = log_softmax_rows(hidden.narrow(0, begin, n), head, temperature);
      const auto target = targets.narrow(0, begin, n);
      const auto masked = target < 0;
      const auto picked = logp.gather(1, target.clamp_min(0).unsqueeze(1)).squeeze(1);
      logprob.narrow(0, begin, n).copy_(picked.masked_fill(masked, 0));
      entropy.narrow(0, begin, n).copy_(-(logp.exp() * logp).sum(-1).masked_fill(masked, 0));
    }
    ctx->save_for_backward({hidden, head_weight, targets, entropy});
    ctx->saved_data["temperature"] = temperature;
    return {logprob, entropy};
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &hidden = saved[0], &targets = saved[2], &entropy = saved[3];
    const double temperature = ctx->saved_data["temperature"].toDouble();
    const at::Tensor head = saved[1].to(hidden.scalar_type());
    const std::int64_t rows = hidden.size(0), step = rows_at_once(head.size(0));
    const at::Tensor d_hidden = at::empty_like(hidden);
    const at::Tensor d_head = at::zeros_like(saved[1]);
    const auto gradient = [&](int i) {
      return gradients[i].defined() ? gradients[i] : at::zeros_like(entropy);
    };
    const at::Tensor d_logprob = gradient(0), d_entropy = gradient(1);
    for (std::int64_t begin = 0; begin < rows; begin += step) {
      const std::int64_t n = std::min(step, rows - begin);
      const auto part = [&](const at::Tensor& t) { return t.narrow(0, begin, n); };
      const auto logp = log_softmax_rows(part(hidden), head, temperature);
      const auto p = logp.exp();
      const auto masked = part(targets) < 0;
      const auto dl = part(d_logprob).masked_fill(masked, 0).unsqueeze(1);
      const auto de = part(d_entropy).masked_fill(masked, 0).unsqueeze(1);
      // d logprob / d z = onehot - p;  d entropy / d z = -p (log p + entropy)
      auto dz = -p * (dl + de * (logp + part(entropy).unsqueeze(1)));
      dz.scatter_add_(1, part(targets).clamp_min(0).unsqueeze(1), dl);
      dz = (dz / temperature).to(hidden.scalar_type());
      part(d_hidden).copy_(at::matmul(dz, head));
      d_head.add_(at::matmul(dz.t(), part(hidden)));
    }
    return {d_hidden, d_head, {}, {}};
  }
};

bool serve_kernels(const at::Tensor& hidden, const at::Tensor& head_weight) {
  return cuda::kernels() != nullptr && hidden.is_cuda() &&
         (hidden.scalar_type() == at::kBFloat16 || hidden.scalar_type() == at::kFloat) &&
         head_weight.scalar_type() == at::kFloat && hidden.size(1) % 8 == 0 &&
         head_weight.size(0) % 8 == 0;
}

}  // namespace

LogprobAndEntropy linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                 const at::Tensor& targets, double temperature) {
  CHECK(hidden.dim() == 2 && targets.dim() == 1 && hidden.size(0) == targets.size(0) &&
            hidden.size(1) == head_weight.size(1),
        "linear_logprob takes hidden [N, H], head [V, H] and targets [N]");
  CHECK(temperature > 0, "temperature must be positive, not {}", temperature);
  if (hidden.is_cpu()) return fused_linear_logprob(hidden, head_weight, targets, temperature);
  if (serve_kernels(hidden, head_weight))
    return cuda_linear_logprob(hidden, head_weight, targets, temperature);
  return aten_linear_logprob(hidden, head_weight, targets, temperature);
}

LogprobAndEntropy aten_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                      const at::Tensor& targets, double temperature) {
  auto outputs = AtenLinearLogprob::apply(hidden, head_weight, targets, temperature);
  return {.logprob = outputs[0], .entropy = outputs[1]};
}

}  // namespace tritonsmith::model
