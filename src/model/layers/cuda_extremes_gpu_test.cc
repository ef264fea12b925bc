// Compares our own CUDA kernels of rows with float64 for extreme numbers: rows of zeros, large
// means, rows far below the norm's epsilon, masked rows, gates of ten thousand, gradients and
// moments of all sizes. cuda_rope_gpu_test.cc and cuda_attention_gpu_test.cc have the rest.
// cpu/extremes_test.cc does the same for the CPU. Skips without a GPU or without kernels in the
// build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/layers/cuda_layer.h"
#include "model/layers/testing/exactness.h"
#include "model/layers/testing/moments.h"

namespace tritonsmith::model {
namespace {

class CudaExtremes : public OnGpuByType {};
INSTANTIATE_TEST_SUITE_P(Types, CudaExtremes, ::testing::Values(at::kBFloat16, at::kHalf));

// Kinds of rows in rotation: usual values, zeros, a mean ten thousand times the spread, squares
// near the norm's epsilon and far below it, and huge values.
at::Tensor rows_of_all_sizes(const at::Tensor& usual) {
  const std::vector<double> sizes = {1, 0, 1, 1e-3, 1e-20, 1e15}, means = {0, 0, 1e4, 0, 0, 0};
  const std::int64_t rows = usual.size(0), kinds = std::ssize(sizes);
  const auto by_row = [&](const std::vector<double>& values) {
    return at::tensor(values, at::kDouble).repeat({rows / kinds + 1}).narrow(0, 0, rows);
  };
  const at::Tensor made =
      usual.to(at::kCPU, at::kDouble) * by_row(sizes).unsqueeze(1) + by_row(means).unsqueeze(1);
  return made.to(at::kFloat).to(usual.device());
}

TEST_P(CudaExtremes, NormIsThatOfFloat64) {
  for (const double eps : {1e-6, 1e-5})
    for (const std::int64_t hidden : {64, 2048, 5120, 16384}) {
      const at::Tensor x = rows_of_all_sizes(normal({13, hidden})), weight = normal({hidden});
      const at::Tensor out = normal({13, hidden}, GetParam()), before = x.clone();
      cuda::kernels()->norm({.x = data(x),
                             .weight = data(weight),
                             .out = data<cuda::Half>(out),
                             .rows = 13,
                             .hidden = static_cast<int>(hidden),
                             .eps = static_cast<float>(eps),
                             .type = half_type_of(out)},
                            stream());
      EXPECT_LT(worst(out, aten_rms_norm(wide(x), wide(weight), eps)), rounding(GetParam()));
      EXPECT_TRUE(at::equal(x, before));
    }
}

// The parts cancel nearly all of x, as may happen in a residual stream.
TEST_P(CudaExtremes, NormAddsPartsInOrderThoughTheyCancel) {
  const std::int64_t hidden = 2048;
  const at::Tensor x = 1e4 * normal({5, hidden}), weight = normal({hidden});
  for (const int count : {2, 4}) {
    const at::Tensor parts = normal({count, 5, hidden}), sum = x.clone(), added = x.clone();
    parts[0].copy_(normal({5, hidden}) - x);
    for (int part = 0; part < count; ++part) at::Tensor(sum).add_(parts[part]);
    const at::Tensor out = normal({5, hidden}, GetParam());
    cuda::kernels()->norm({.x = data(added),
                           .weight = data(weight),
                           .out = data<cuda::Half>(out),
                           .rows = 5,
                           .hidden = static_cast<int>(hidden),
                           .eps = 1e-6f,
                           .type = half_type_of(out),
                           .parts = data(parts),
                           .part_count = count,
                           .part_step = parts.stride(0)},
                          stream());
    EXPECT_TRUE(at::equal(added, sum)) << count;
    EXPECT_LT(worst(out, aten_rms_norm(wide(sum), wide(weight), 1e-6)), rounding(GetParam()));
  }
}

// With and without the residual's gradient. Every seventh row is masked and gets no gradient.
TEST_P(CudaExtremes, TheNormsGradientIsThatOfFloat64) {
  const double eps = 1e-6;
  for (const auto& [rows, hidden] : {std::pair{13, 64}, std::pair{1300, 2048}, std::pair{7, 5120}})
    for (const bool has_residual : {false, true}) {
      const at::Tensor x = rows_of_all_sizes(normal({rows, hidden})), weight = normal({hidden});
      const at::Tensor d_out = normal({rows, hidden}, at::kBFloat16);
      d_out.slice(0, 0, rows, 7).zero_();
      const at::Tensor residual = normal({rows, hidden}), d_weight = at::ones_like(weight);
      const at::Tensor d_x = at::empty_like(x), half = at::empty_like(d_out);
      const at::Tensor partials = at::empty({cuda::kNormParts, hidden}, x.options());
      cuda::kernels()->norm_backward({.x = data(x),
                                      .weight = data(weight),
                                      .d_out = data<cuda::Bf16>(d_out),
                                      .d_residual = has_residual ? data(residual) : nullptr,
                                      .d_x = data(d_x),
                                      .d_x_half = data<cuda::Bf16>(half),
                                      .partials = data(partials),
                                      .d_weight = data(d_weight),
                                      .rows = rows,
                                      .hidden = hidden,
                                      .eps = static_cast<float>(eps)},
                                     stream());
      const at::Tensor x64 = wide(x).requires_grad_(true), w64 = wide(weight).requires_grad_(true);
      aten_rms_norm(x64, w64, eps).backward(wide(d_out));
      const at::Tensor expected = has_residual ? x64.grad() + wide(residual) : x64.grad();
      // Errors are relative to a hundredth of the row's largest element, whose sums float32 knows
      // to 1e-6.
      EXPECT_LT(worst_in_row(d_x, expected), 2e-4) << rows << " of " << hidden;
      EXPECT_TRUE(at::equal(half, d_x.to(at::kBFloat16)));
      EXPECT_LT(difference(d_weight, w64.grad() + 1), kSumsOfRows) << rows << " of " << hidden;
      const at::Tensor masked = d_x.slice(0, 0, rows, 7);
      EXPECT_TRUE(
          at::equal(masked, has_residual ? residual.slice(0, 0, rows, 7) : at::zeros_like(masked)));
    }
}

// Every gate with every other factor, [17, factors]. float16 ends at 65504, so its gates meet no
// factor above 4; the kernel stores a quarter of the product.
struct Gated {
  at::Tensor gate_up, d_out, gate, up;
};
Gated gates_of_all_sizes(at::ScalarType type, c10::Device device) {
  const double most = type == at::kHalf ? 4 : 1e4;
  std::vector<double> gates = {0}, ups, d_outs;
  for (const double gate : {1e-4, 0.5, 1.0, 4.0, 20.0, 80.0, 1e3, 1e4})
    gates.push_back(gate), gates.push_back(-gate);
  for (const double up : {0.0, 1.0, -3.0, most})
    for (const double d_out : {0.0, 1.0, -1e-6, 1e4}) ups.push_back(up), d_outs.push_back(d_out);
  const std::int64_t rows = std::ssize(gates), columns = std::ssize(ups);
  const auto filled = [&](const at::Tensor& values, at::ScalarType as) {
    return values.expand({rows, columns}).to(as).to(device).contiguous();
  };
  const at::Tensor gate = filled(at::tensor(gates, at::kDouble).unsqueeze(1), type),
                   up = filled(at::tensor(ups, at::kDouble), type);
  return {.gate_up = at::cat({gate, up}, 1).contiguous(),
          .d_out = filled(at::tensor(d_outs, at::kDouble), at::kBFloat16),
          .gate = wide(gate).requires_grad_(true),
          .up = wide(up).requires_grad_(true)};
}

TEST_P(CudaExtremes, SwiGluAndItsGradientAreThoseOfFloat64) {
  const Gated of = gates_of_all_sizes(GetParam(), device_);
  const std::int64_t tokens = of.d_out.size(0), inner = of.d_out.size(1);
  const at::Tensor expected = at::silu(of.gate) * of.up;
  expected.backward(wide(of.d_out));
  const at::Tensor out = at::empty_like(of.d_out, GetParam());
  cuda::kernels()->swiglu({data<cuda::Half>(of.gate_up), data<cuda::Half>(out), tokens,
                           static_cast<int>(inner), half_type_of(out), 0.25f},
                          stream());
  // float32 has no e^x beyond x = 88. A gate of -80 leaves no normal number of a gradient of 1e-6.
  // Values below this constant are not checked.
  static constexpr double kNothing = 1e-25;
  const auto floor = [](const at::Tensor& of_type) {
    return std::max(kNothing, smallest(of_type.scalar_type()));
  };
  EXPECT_LT(worst(out, 0.25 * expected.detach(), floor(out)), rounding(GetParam()));
  const at::Tensor again = of.d_out.clone();
  cuda::kernels()->swiglu_backward({data<cuda::Half>(of.gate_up), data<cuda::Bf16>(again), tokens,
                                    static_cast<int>(inner), half_type_of(of.gate_up)},
                                   stream());
  const at::Tensor gradient = of.gate_up.view(at::kBFloat16);
  EXPECT_LT(worst(again, expected.detach(), floor(again)), rounding(at::kBFloat16));
  EXPECT_LT(worst(gradient.narrow(1, 0, inner), of.gate.grad(), floor(gradient)),
            rounding(at::kBFloat16));
  EXPECT_LT(worst(gradient.narrow(1, inner, inner), of.up.grad(), floor(gradient)),
            rounding(at::kBFloat16));
}

// Two copies of the numbers: the first half has weight decay.
TEST_P(CudaExtremes, AdamWIsThatOfFloat64) {
  const double lr = 0.01, b1 = 0.9, b2 = 0.95, eps = 1e-8, scale = 0.5;
  const Moments start = moments_of_all_sizes();
  const std::int64_t count = 2 * start.weights.numel();
  const auto twice_over = [&](const at::Tensor& once) { return once.repeat({2}).to(device_); };
  for (const int updates : {1, 1000}) {
    const double c1 = 1 - std::pow(b1, updates), c2 = 1 - std::pow(b2, updates);
    const at::Tensor w = twice_over(start.weights), g = twice_over(start.gradients),
                     m = twice_over(start.first), v = twice_over(start.second),
                     half = at::empty_like(w, GetParam());
    const at::Tensor g64 = scale * wide(g), m64 = b1 * wide(m) + (1 - b1) * g64,
                     v64 = b2 * wide(v) + (1 - b2) * g64.square();
    const at::Tensor decay = at::zeros({count}, at::kDouble);
    decay.narrow(0, 0, count / 2).fill_(0.1);
    const at::Tensor change = lr * (decay * wide(w) + (m64 / c1) / ((v64 / c2).sqrt() + eps));
    const at::Tensor w64 = wide(w) - change;
    // A weight is known to a unit in the last place of the larger of itself and its change.
    const at::Tensor known = at::clamp_min(at::maximum(wide(w).abs(), change.abs()), 1e-30);
    cuda::kernels()->adamw({.weights = data(w),
                            .gradients = data(g),
                            .first = data(m),
                            .second = data(v),
                            .half = data<cuda::Half>(half),
                            .count = count,
                            .decayed = count / 2,
                            .learning_rate = static_cast<float>(lr),
                            .beta1 = static_cast<float>(b1),
                            .beta2 = static_cast<float>(b2),
                            .epsilon = static_cast<float>(eps),
                            .weight_decay = 0.1f,
                            .correction1 = static_cast<float>(c1),
                            .correction2 = static_cast<float>(c2),
                            .gradient_scale = static_cast<float>(scale),
                            .type = half_type_of(half)},
                           stream());
    // float32 knows 1 - 0.95 to 2e-7. Values below 1e-30, the square of a gradient of 1e-15, are
    // not checked, because their root is far below epsilon.
    EXPECT_LT(worst(w, w64, known), 2e-6) << updates;
    EXPECT_LT(worst(m, m64), 2e-6) << updates;
    EXPECT_LT(worst(v, v64, 1e-30), 2e-6) << updates;
    EXPECT_TRUE(at::equal(half, w.to(GetParam()))) << updates;
  }
}

}  // namespace
}  // namespace tritonsmith::model
