// Compares our own CUDA kernels with float64 in plain ATen on the CPU, and the layer over them with
// the fused CPU layer. Skips without a GPU or without kernels in the build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <utility>

#include "base/rng.h"
#include "base/temp_dir.h"
#include "model/layers/cuda_layer.h"
#include "model/layers/head_gradient.h"
#include "model/layers/testing/on_gpu.h"
#include "model/memory/host_arena.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

using Cuda = OnGpu<1>;

constexpr at::ScalarType kHalves[] = {at::kBFloat16, at::kHalf};

TEST_F(Cuda, ProductsAreThoseOfFloat64) {
  for (const auto& [choice, type] : {std::pair{KernelChoice::guess, at::kBFloat16},
                                     std::pair{KernelChoice::measure, at::kBFloat16},
                                     std::pair{KernelChoice::guess, at::kHalf}}) {
    Cublas cublas(device_, choice);
    for (const auto& [rows, in, out] :
         {std::array{1, 64, 48}, std::array{37, 128, 192}, std::array{64, 96, 4096}}) {
      const auto x = normal({rows, in}, type), w = normal({out, in}, type);
      const auto bias = normal({out}, type), d = normal({rows, out}, type);
      const at::Tensor expected = wide(x).matmul(wide(w).t());
      const at::Tensor half = at::empty_like(d), full = at::empty_like(d, at::kFloat);
      cublas.linear(half, x, w, bias);
      EXPECT_LT(difference(half, expected + wide(bias)), rounding_of_norm(type));
      cublas.linear(full, x, w);
      EXPECT_LT(difference(full, expected), 1e-5);
      const at::Tensor addend = normal({rows, out}), sum = at::empty_like(addend);
      cublas.linear_onto(sum, addend, x, w);
      EXPECT_LT(difference(sum, expected + wide(addend)), 1e-5);
      const at::Tensor in_place = addend.clone();
      cublas.linear_onto(in_place, in_place, x, w, 16);
      EXPECT_LT(difference(in_place, 16 * expected + wide(addend)), 1e-5);
      const at::Tensor d_x = at::empty_like(x), d_w = normal({out, in}), before = d_w.clone();
      cublas.input_gradient(d_x, d, w);
      EXPECT_LT(difference(d_x, wide(d).matmul(wide(w))), rounding_of_norm(type));
      cublas.add_weight_gradient(d_w, d, x);
      EXPECT_LT(difference(d_w, wide(before) + wide(d).t().matmul(wide(x))), 1e-5);
    }
  }
}

TEST_F(Cuda, NormAndItsGradientAreThoseOfFloat64) {
  for (const auto& [rows, hidden] : {std::pair{3, 64}, std::pair{700, 2048}, std::pair{5, 5120}}) {
    const at::Tensor x = 3 * normal({rows, hidden}) + 0.5, weight = normal({hidden});
    const at::Tensor d_out = normal({rows, hidden}, at::kBFloat16);
    const at::Tensor residual = normal({rows, hidden});
    const at::Tensor x64 = wide(x).requires_grad_(true), w64 = wide(weight).requires_grad_(true);
    const at::Tensor expected = aten_rms_norm(x64, w64, 1e-6);
    expected.backward(wide(d_out));
    const at::Tensor half = at::empty_like(d_out);
    for (const at::ScalarType type : kHalves) {
      const at::Tensor rounded = normal({rows, hidden}, type);
      cuda::kernels()->norm({data(x), data(weight), data<cuda::Half>(rounded), rows, hidden, 1e-6f,
                             half_type_of(rounded)},
                            stream());
      EXPECT_LT(difference(rounded, expected), rounding_of_norm(type));
    }
    const at::Tensor d_x = at::empty_like(x), d_weight = at::ones_like(weight);
    const at::Tensor partials = at::empty({cuda::kNormParts, hidden}, x.options());
    cuda::kernels()->norm_backward({.x = data(x),
                                    .weight = data(weight),
                                    .d_out = data<cuda::Bf16>(d_out),
                                    .d_residual = data(residual),
                                    .d_x = data(d_x),
                                    .d_x_half = data<cuda::Bf16>(half),
                                    .partials = data(partials),
                                    .d_weight = data(d_weight),
                                    .rows = rows,
                                    .hidden = hidden,
                                    .eps = 1e-6f},
                                   stream());
    EXPECT_LT(difference(d_x, x64.grad() + wide(residual)), 1e-5);
    EXPECT_LT(difference(half, d_x), 4e-3);
    EXPECT_LT(difference(d_weight, w64.grad() + 1), 1e-5);
  }
}

TEST_F(Cuda, SwiGluAndItsGradientAreThoseOfFloat64) {
  const int tokens = 77, inner = 272;
  for (const at::ScalarType type : kHalves) {
    const at::Tensor gate_up = 4 * normal({tokens, 2 * inner}, type);
    const at::Tensor d_out = normal({tokens, inner}, at::kBFloat16);
    const at::Tensor input = wide(gate_up).requires_grad_(true);
    const auto halves = input.chunk(2, 1);
    const at::Tensor expected = at::silu(halves[0]) * halves[1];
    expected.backward(wide(d_out));
    const at::Tensor out = normal({tokens, inner}, type);
    cuda::kernels()->swiglu(
        {data<cuda::Half>(gate_up), data<cuda::Half>(out), tokens, inner, half_type_of(out), 0.25f},
        stream());
    EXPECT_LT(difference(4 * wide(out), expected), rounding_of_norm(type));
    const at::Tensor again = d_out.clone();
    cuda::kernels()->swiglu_backward(
        {data<cuda::Half>(gate_up), data<cuda::Bf16>(again), tokens, inner, half_type_of(gate_up)},
        stream());
    EXPECT_LT(difference(gate_up.view(at::kBFloat16), input.grad()), 4e-3);
    EXPECT_LT(difference(again, expected), 4e-3);
  }
}

// Extreme logits, an offset that overflows without the shift by the maximum, and masked rows.
TEST_F(Cuda, HeadAndItsGradientAreThoseOfFloat64) {
  for (const double scale : {0.05, 1.0, 30.0}) {
    const int rows = 150, hidden = 64, vocabulary = 4000;
    // In bfloat16, and in float16 for numbers within its range.
    const at::ScalarType type = scale == 1.0 ? at::kFloat : at::kBFloat16;
    const at::Tensor h = normal({rows, hidden}, at::kBFloat16).to(type).requires_grad_(true);
    const at::Tensor head = (scale * normal({vocabulary, hidden})).to(at::kBFloat16).to(at::kFloat);
    head.requires_grad_(true);
    at::Tensor targets = at::randint(vocabulary, {rows}, at::kLong).to(device_);
    targets.slice(0, 0, rows, 7).fill_(-1);
    const at::Tensor of_logprob = normal({rows}), of_entropy = 0.1 * normal({rows});
    const auto got = linear_logprob(h, head, targets, 0.8);
    const at::Tensor h64 = wide(h).requires_grad_(true), head64 = wide(head).requires_grad_(true);
    const auto expected = aten_linear_logprob(h64, head64, targets.to(at::kCPU), 0.8);
    EXPECT_LT(difference(got.logprob, expected.logprob), 1e-5);
    EXPECT_LT(difference(got.entropy, expected.entropy), 1e-3);
    EXPECT_LE(got.logprob.max().item<double>(), 0);
    EXPECT_EQ(got.logprob.slice(0, 0, rows, 7).abs().max().item<double>(), 0);
    ((got.logprob * of_logprob).sum() + (got.entropy * of_entropy).sum()).backward();
    ((expected.logprob * wide(of_logprob)).sum() + (expected.entropy * wide(of_entropy)).sum())
        .backward();
    EXPECT_LT(difference(h.grad(), h64.grad()), 8e-3);
    EXPECT_LT(difference(head.grad(), head64.grad()), 8e-3);
  }
}

// The vocabulary is so large that the rows come in several chunks.
TEST_F(Cuda, TheHeadInOnePassIsTheHeadInTwo) {
  for (const Precision precision : {Precision::float16, Precision::bfloat16}) {
    auto model = Transformer::random({.vocab_size = 151936,
                                      .hidden_size = 64,
                                      .intermediate_size = 64,
                                      .num_hidden_layers = 1,
                                      .num_attention_heads = 2,
                                      .num_key_value_heads = 1,
                                      .head_dim = 32},
                                     3, device_);
    model.set_precision(precision);
    const int rows = 4000;
    const at::ScalarType type = precision == Precision::float16 ? at::kFloat : at::kBFloat16;
    const at::Tensor h = normal({rows, 64}, at::kBFloat16).to(type).requires_grad_(true);
    at::Tensor targets = at::randint(151936, {rows}, at::kLong).to(device_);
    targets.slice(0, 0, rows, 7).fill_(-1);
    const at::Tensor of_logprob = normal({rows}), of_entropy = 0.1 * normal({rows});
    at::Tensor head = model.head_weight();
    const auto twice = linear_logprob(h, head, targets, 0.8);
    ((twice.logprob * of_logprob).sum() + (twice.entropy * of_entropy).sum()).backward();
    const at::Tensor expected = head.grad().clone();
    head.mutable_grad().zero_();
    ASSERT_TRUE(serves_head_gradient(model.head(), h));
    std::vector<at::Tensor> logprobs;
    const at::Tensor d_h =
        head_gradient(model.head(), h.detach(), targets, 0.8,
                      [&](std::int64_t begin, const LogprobAndEntropy& now) {
                        logprobs.push_back(now.logprob.clone());
                        const std::int64_t count = now.entropy.numel();
                        return LogprobAndEntropy{.logprob = of_logprob.narrow(0, begin, count),
                                                 .entropy = of_entropy.narrow(0, begin, count)};
                      });
    EXPECT_GT(logprobs.size(), 1U);
    EXPECT_TRUE(at::equal(at::cat(logprobs), twice.logprob));
    EXPECT_TRUE(at::equal(d_h, h.grad()));
    EXPECT_LT(difference(head.grad(), expected), 1e-5);
  }
}

TEST_F(Cuda, WhatLiesThereIsCopiedAndWrittenWhole) {
  // Several pieces of either kind with an odd last one, a tensor that is not a vector, and an empty
  // one.
  const std::vector<NamedTensor> tensors = {{"large", normal({(std::int64_t{64} << 18) + 12345})},
                                            {"matrix", normal({33, 7}, at::kBFloat16).t()},
                                            {"empty", normal({0})}};
  const auto dir = TempDir::make("gpu");
  const auto path = dir->path() / "some.safetensors";
  ASSERT_TRUE(write_safetensors(path, tensors));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  const auto arena = HostArena::make(std::size_t{80} << 20, {.piece = std::size_t{16} << 20});
  std::vector<at::Tensor> copies;
  for (int pass = 0; pass < 2; ++pass) {
    arena->rewind();
    copies.clear();
    for (const auto& each : tensors) copies.push_back(arena->copy(each.tensor));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    const at::Tensor expected = tensor.to(at::kCPU);
    EXPECT_TRUE(at::equal(copies[i], expected)) << name;
    EXPECT_TRUE(at::equal(*file->tensor(name), expected)) << name;
  }
}

TEST_F(Cuda, CopiesOverPiecesThatWerePinnedApartAreWhole) {
  constexpr std::size_t kPiece = 8192;
  std::size_t asked = 0, refused = 0;
  Pinning pinning = {.piece = kPiece};
  pinning.pin = [&](std::byte* data, std::size_t size) {
    if (++asked % 4 == 0) return false;  // acts like a driver that refuses it
    const bool is_pinned = pin_pages(data, size);
    refused += is_pinned ? 0 : 1;
    return is_pinned;
  };
  const std::vector<at::Tensor> tensors = {
      normal({1000}), normal({77, 333}).t(), normal({12345}, at::kBFloat16), normal({0}),
      normal({}),     normal({50000}) > 0};
  auto arena = HostArena::make(64 * kPiece, pinning);
  EXPECT_EQ(asked, 64U);
  EXPECT_EQ(refused, 0U);
  for (int pass = 0; pass < 2; ++pass) {
    arena->rewind();
    for (const at::Tensor& each : tensors)
      EXPECT_TRUE(at::equal(arena->copy(each), each.to(at::kCPU))) << each.sizes();
  }
  // The last owner is a thread without a device. The next arena lies at the same address, where the
  // driver would notice memory that was not unpinned.
  std::jthread([last = std::exchange(arena, nullptr)] {}).join();
  arena = HostArena::make(64 * kPiece, pinning);
  EXPECT_EQ(refused, 0U);
}

TEST_F(Cuda, AdamWIsThatOfFloat64) {
  const std::int64_t count = 4096, decayed = 1024;
  at::Tensor w = normal({count}), g = normal({count}), m = 0.1 * normal({count}),
             v = normal({count}).square(),
             half = at::empty({count}, w.options().dtype(at::kBFloat16));
  at::Tensor w64 = wide(w), m64 = wide(m), v64 = wide(v);
  const at::Tensor g64 = wide(g) * 0.5;
  const double lr = 0.01, b1 = 0.9, b2 = 0.95, c1 = 1 - std::pow(b1, 3), c2 = 1 - std::pow(b2, 3);
  m64 = b1 * m64 + (1 - b1) * g64;
  v64 = b2 * v64 + (1 - b2) * g64.square();
  const at::Tensor decay = at::zeros({count}, at::kDouble);
  decay.narrow(0, 0, decayed).fill_(0.1);
  w64 = w64 - lr * (decay * w64 + (m64 / c1) / ((v64 / c2).sqrt() + 1e-8));
  cuda::kernels()->adamw({.weights = data(w),
                          .gradients = data(g),
                          .first = data(m),
                          .second = data(v),
                          .half = data<cuda::Bf16>(half),
                          .count = count,
                          .decayed = decayed,
                          .learning_rate = 0.01f,
                          .beta1 = 0.9f,
                          .beta2 = 0.95f,
                          .epsilon = 1e-8f,
                          .weight_decay = 0.1f,
                          .correction1 = static_cast<float>(c1),
                          .correction2 = static_cast<float>(c2),
                          .gradient_scale = 0.5f},
                         stream());
  EXPECT_LT(difference(w, w64), 1e-6);
  EXPECT_LT(difference(m, m64), 1e-6);
  EXPECT_LT(difference(v, v64), 1e-6);
  EXPECT_TRUE(at::equal(half, w.to(half.scalar_type())));
}

}  // namespace
}  // namespace tritonsmith::model
