// The head over our own CUDA kernels: float32 logits of 16-bit operands, a chunk of rows at a time.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "model/cuda_layer.h"

namespace tritonsmith::model {
namespace {

using cuda::Bf16;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Logits of so many elements are made at once, 2 GiB of float32, in whole tiles of the products.
constexpr std::int64_t kLogitsAtOnce = std::int64_t{1} << 29;
constexpr std::int64_t kTile = 128;

float* rows_from(const at::Tensor& column, std::int64_t begin) {
  return column.mutable_data_ptr<float>() + begin;
}

// What forward and backward have in common: chunks of rows and their logits.
struct Chunks {
  const at::Tensor hidden;    // [N, H], 16 bits
  const at::Tensor head;      // [V, H] likewise
  const at::Tensor& targets;  // [N]
  float inverse_temperature;

  template <typename Body>
  void each(const Body& body) const {
    const std::int64_t vocabulary = head.size(0), all = hidden.size(0);
    const std::int64_t most = std::max(kLogitsAtOnce / vocabulary / kTile, std::int64_t{1}) * kTile;
    const std::int64_t step = std::min(most, all);
    const at::Tensor logits = at::empty({step, vocabulary}, hidden.options().dtype(at::kFloat));
    for (std::int64_t begin = 0; begin < all; begin += step) {
      const std::int64_t rows = std::min(step, all - begin);
      const at::Tensor part = logits.narrow(0, 0, rows);
      training_cublas(hidden.device()).linear(part, hidden.narrow(0, begin, rows), head);
      body(begin, rows, part);
    }
  }
};

Chunks chunks_of(const at::Tensor& hidden, const at::Tensor& head_weight, const at::Tensor& targets,
                 double temperature) {
  const at::ScalarType type = hidden.scalar_type() == at::kFloat ? at::kHalf : at::kBFloat16;
  return {hidden.to(type), head_weight.detach().to(type), targets,
          static_cast<float>(1.0 / temperature)};
}

struct HeadFunction : torch::autograd::Function<HeadFunction> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& hidden_in,
                               const at::Tensor& head_weight, const at::Tensor& targets_in,
                               double temperature) {
    const at::Tensor hidden = hidden_in.contiguous(), targets = targets_in.contiguous();
    const auto column = [&] {
      return at::empty({hidden.size(0)}, hidden.options().dtype(at::kFloat));
    };
    const at::Tensor logprob = column(), entropy = column(), log_normaliser = column();
    const Chunks chunks = chunks_of(hidden, head_weight, targets, temperature);
    if (hidden.size(0) > 0)
      chunks.each([&](std::int64_t begin, std::int64_t rows, const at::Tensor& logits) {
        cuda::kernels()->head_rows({.logits = logits.const_data_ptr<float>(),
                                    .targets = targets.const_data_ptr<std::int64_t>() + begin,
                                    .logprob = rows_from(logprob, begin),
                                    .entropy = rows_from(entropy, begin),
                                    .log_normaliser = rows_from(log_normaliser, begin),
                                    .rows = rows,
                                    .vocabulary = static_cast<int>(logits.size(1)),
                                    .inverse_temperature = chunks.inverse_temperature},
                                   current_stream(hidden.device()));
      });
    ctx->save_for_backward({hidden, head_weight, targets, entropy, log_normaliser});
    ctx->saved_data["temperature"] = temperature;
    return {logprob, entropy};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const at::NoGradGuard no_grad;
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &hidden = saved[0], &head_weight = saved[1], &entropy = saved[3];
    const at::Tensor d_logprob =
        d_outputs[0].defined() ? d_outputs[0].contiguous() : at::zeros_like(entropy);
    const at::Tensor d_entropy = d_outputs[1].defined() ? d_outputs[1].contiguous() : at::Tensor();
    const at::Tensor d_hidden = at::empty_like(hidden);
    // A leaf's gradient is added to in place: that of a large vocabulary is worth no second copy.
    const bool in_place = head_weight.is_leaf() && head_weight.requires_grad();
    const at::Tensor d_head = in_place ? gradient_of(head_weight) : at::zeros_like(head_weight);
    const Chunks chunks =
        chunks_of(hidden, head_weight, saved[2], ctx->saved_data["temperature"].toDouble());
    Cublas& cublas = training_cublas(hidden.device());
    // Gradients are bfloat16 whatever the forward was.
    const at::Tensor rows_of_x = hidden.to(at::kBFloat16);
    const at::Tensor head = chunks.head.to(at::kBFloat16);
    if (hidden.size(0) > 0)
      chunks.each([&](std::int64_t begin, std::int64_t rows, const at::Tensor& logits) {
        const at::Tensor d_logits = at::empty(logits.sizes(), rows_of_x.options());
        cuda::kernels()->head_rows_backward(
            {.logits = logits.const_data_ptr<float>(),
             .targets = saved[2].const_data_ptr<std::int64_t>() + begin,
             .entropy = rows_from(entropy, begin),
             .log_normaliser = rows_from(saved[4], begin),
             .d_logprob = rows_from(d_logprob, begin),
             .d_entropy = d_entropy.defined() ? rows_from(d_entropy, begin) : nullptr,
             .d_logits = static_cast<Bf16*>(d_logits.mutable_data_ptr()),
             .rows = rows,
             .vocabulary = static_cast<int>(logits.size(1)),
             .inverse_temperature = chunks.inverse_temperature},
            current_stream(hidden.device()));
        cublas.input_gradient(d_hidden.narrow(0, begin, rows), d_logits, head);
        cublas.add_weight_gradient(d_head, d_logits, rows_of_x.narrow(0, begin, rows));
      });
    return {d_hidden, in_place ? at::Tensor() : d_head, {}, {}};
  }
};

}  // namespace

LogprobAndEntropy cuda_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                      const at::Tensor& targets, double temperature) {
  auto outputs = HeadFunction::apply(hidden, head_weight, targets, temperature);
  return {.logprob = outputs[0], .entropy = outputs[1]};
}

}  // namespace tritonsmith::model
