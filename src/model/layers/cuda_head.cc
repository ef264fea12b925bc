// The head over our own CUDA kernels: float32 logits of 16-bit operands, a chunk of rows at a time.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "model/layers/cuda_layer.h"
#include "model/layers/head_gradient.h"

namespace tritonsmith::model {
namespace {

using cuda::Bf16;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Elements of logits that exist at once: 2 GiB of float32, in whole tiles of the products.
constexpr std::int64_t kLogitsAtOnce = std::int64_t{1} << 29;
constexpr std::int64_t kTile = 128;

float* rows_from(const at::Tensor& column, std::int64_t begin) {
  return column.mutable_data_ptr<float>() + begin;
}

at::Tensor column_like(const at::Tensor& hidden) {
  return at::empty({hidden.size(0)}, hidden.options().dtype(at::kFloat));
}

// The shared part of forward and backward: chunks of rows and their logits.
struct Chunks {
  const at::Tensor hidden;   // [N, H], 16 bits
  const at::Tensor head;     // [V, H], 16 bits
  const at::Tensor targets;  // [N]
  float inverse_temperature;

  template <typename Body>
  void each(const Body& body) const {
    const std::int64_t vocabulary = head.size(0), all = hidden.size(0);
    if (all == 0) return;
    const std::int64_t most = std::max(kLogitsAtOnce / vocabulary / kTile, std::int64_t{1}) * kTile;
    const std::int64_t step = std::min(most, all);
    const at::Tensor logits = at::empty({step, vocabulary}, hidden.options().dtype(at::kFloat));
    for (std::int64_t begin = 0; begin < all; begin += step) {
      const std::int64_t rows = std::min(step, all - begin);
      const at::Tensor part = logits.narrow(0, 0, rows);
      training_cublas(hidden.device()).linear(part, hidden.narrow(0, begin, rows), head);
      body(begin, part);
    }
  }
};

Chunks chunks_of(const at::Tensor& hidden, const at::Tensor& head_weight, const at::Tensor& targets,
                 double temperature) {
  const at::ScalarType type = hidden.scalar_type() == at::kFloat ? at::kHalf : at::kBFloat16;
  return {hidden.to(type), head_weight.detach().to(type), targets,
          static_cast<float>(1.0 / temperature)};
}

// For each row, [N].
struct RowMoments {
  at::Tensor logprob, entropy, log_normaliser;

  static RowMoments like(const at::Tensor& hidden) {
    return {column_like(hidden), column_like(hidden), column_like(hidden)};
  }
};

// Computes the moments of rows [begin, begin + n) from their logits.
void take_moments(const Chunks& chunks, std::int64_t begin, const at::Tensor& logits,
                  const RowMoments& moments) {
  cuda::kernels()->head_rows({.logits = logits.const_data_ptr<float>(),
                              .targets = chunks.targets.const_data_ptr<std::int64_t>() + begin,
                              .logprob = rows_from(moments.logprob, begin),
                              .entropy = rows_from(moments.entropy, begin),
                              .log_normaliser = rows_from(moments.log_normaliser, begin),
                              .rows = logits.size(0),
                              .vocabulary = static_cast<int>(logits.size(1)),
                              .inverse_temperature = chunks.inverse_temperature},
                             current_stream(logits.device()));
}

// The operands and results of a chunk's gradient. Gradients are bfloat16, whatever the forward's
// type is.
struct Backward {
  const Chunks& chunks;
  const RowMoments& moments;
  at::Tensor hidden, head;  // bfloat16
  at::Tensor d_hidden;      // [N, H]
  at::Tensor d_head;        // [V, H] float32; the kernel adds to it
};

Backward backward_of(const Chunks& chunks, const RowMoments& moments, const at::Tensor& d_hidden,
                     const at::Tensor& d_head) {
  return {chunks,   moments, chunks.hidden.to(at::kBFloat16), chunks.head.to(at::kBFloat16),
          d_hidden, d_head};
}

// `gradient`: for rows [begin, begin + n), [n] each.
void add_gradient(const Backward& to, std::int64_t begin, const at::Tensor& logits,
                  const LogprobAndEntropy& gradient) {
  const std::int64_t rows = logits.size(0);
  const at::Tensor d_logits = at::empty(logits.sizes(), to.hidden.options());
  const at::Tensor& d_entropy = gradient.entropy;
  cuda::kernels()->head_rows_backward(
      {.logits = logits.const_data_ptr<float>(),
       .targets = to.chunks.targets.const_data_ptr<std::int64_t>() + begin,
       .entropy = rows_from(to.moments.entropy, begin),
       .log_normaliser = rows_from(to.moments.log_normaliser, begin),
       .d_logprob = gradient.logprob.const_data_ptr<float>(),
       .d_entropy = d_entropy.defined() ? d_entropy.const_data_ptr<float>() : nullptr,
       .d_logits = static_cast<Bf16*>(d_logits.mutable_data_ptr()),
       .rows = rows,
       .vocabulary = static_cast<int>(logits.size(1)),
       .inverse_temperature = to.chunks.inverse_temperature},
      current_stream(logits.device()));
  Cublas& cublas = training_cublas(logits.device());
  cublas.input_gradient(to.d_hidden.narrow(0, begin, rows), d_logits, to.head);
  cublas.add_weight_gradient(to.d_head, d_logits, to.hidden.narrow(0, begin, rows));
}

struct HeadFunction : torch::autograd::Function<HeadFunction> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& hidden_in,
                               const at::Tensor& head_weight, const at::Tensor& targets_in,
                               double temperature) {
    const at::Tensor hidden = hidden_in.contiguous(), targets = targets_in.contiguous();
    const RowMoments moments = RowMoments::like(hidden);
    const Chunks chunks = chunks_of(hidden, head_weight, targets, temperature);
    chunks.each([&](std::int64_t begin, const at::Tensor& logits) {
      take_moments(chunks, begin, logits, moments);
    });
    ctx->save_for_backward({hidden, head_weight, targets, moments.entropy, moments.log_normaliser});
    ctx->saved_data["temperature"] = temperature;
    return {moments.logprob, moments.entropy};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const at::NoGradGuard no_grad;
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &hidden = saved[0], &head_weight = saved[1], &entropy = saved[3];
    const at::Tensor d_logprob =
        d_outputs[0].defined() ? d_outputs[0].contiguous() : at::zeros_like(entropy);
    const at::Tensor d_entropy = d_outputs[1].defined() ? d_outputs[1].contiguous() : at::Tensor();
    const at::Tensor d_hidden = at::empty_like(hidden);
    // A leaf's gradient is added in place, which saves a second copy for a large vocabulary.
    const bool in_place = head_weight.is_leaf() && head_weight.requires_grad();
    const at::Tensor d_head = in_place ? gradient_of(head_weight) : at::zeros_like(head_weight);
    const Chunks chunks =
        chunks_of(hidden, head_weight, saved[2], ctx->saved_data["temperature"].toDouble());
    const RowMoments moments = {.logprob = {}, .entropy = entropy, .log_normaliser = saved[4]};
    const Backward to = backward_of(chunks, moments, d_hidden, d_head);
    chunks.each([&](std::int64_t begin, const at::Tensor& logits) {
      const auto rows_of = [&](const at::Tensor& column) {
        return column.defined() ? column.narrow(0, begin, logits.size(0)) : column;
      };
      add_gradient(to, begin, logits,
                   {.logprob = rows_of(d_logprob), .entropy = rows_of(d_entropy)});
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

bool serves_head_gradient(const HeadWeights& head, const at::Tensor& hidden) {
  return head.half.defined() && hidden.is_cuda() && head.master.is_leaf() &&
         head.master.requires_grad() && head.master.size(0) % 8 == 0;
}

at::Tensor head_gradient(const HeadWeights& head, const at::Tensor& hidden,
                         const at::Tensor& targets, double temperature,
                         const RowGradient& gradient) {
  const at::NoGradGuard no_grad;
  const at::Tensor& half = head.half;
  const Chunks chunks = {hidden.to(half.scalar_type()).contiguous(), half, targets.contiguous(),
                         static_cast<float>(1.0 / temperature)};
  const RowMoments moments = RowMoments::like(hidden);
  const at::Tensor d_hidden = at::empty_like(hidden, at::MemoryFormat::Contiguous);
  const Backward to = backward_of(chunks, moments, d_hidden, gradient_of(head.master));
  chunks.each([&](std::int64_t begin, const at::Tensor& logits) {
    take_moments(chunks, begin, logits, moments);
    const auto rows_of = [&](const at::Tensor& column) {
      return column.narrow(0, begin, logits.size(0));
    };
    const LogprobAndEntropy given =
        gradient(begin, {.logprob = rows_of(moments.logprob), .entropy = rows_of(moments.entropy)});
    const auto plain = [](const at::Tensor& column) {
      return column.defined() ? column.to(at::kFloat).contiguous() : column;
    };
    add_gradient(to, begin, logits,
                 {.logprob = plain(given.logprob), .entropy = plain(given.entropy)});
  });
  return d_hidden;
}

}  // namespace tritonsmith::model
