// Compares the float32 kernels with their formulas in float64 for extreme numbers: rows of zeros,
// large means, rows far below the norm's epsilon, gates at which e^x overflows, large scores,
// sequences of one token. cuda_extremes_gpu_test.cc does the same for a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "model/cpu/attention.h"
#include "model/cpu/kernels.h"

namespace tritonsmith::model::cpu {
namespace {

using Row = std::vector<float>;
using Exact = std::vector<double>;

struct Wave {
  double step = 1, size = 1, mean = 0;
};
Row wave(std::int64_t count, const Wave& of) {
  Row values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<float>(of.mean + of.size * std::sin(of.step * static_cast<double>(i) + 0.3));
  return values;
}

Exact exact(const Row& row) { return {row.begin(), row.end()}; }

// Returns the largest |got - expected| relative to `scale`, or NaN if there is any. Expected zeros
// must be exactly zero.
double worst(std::span<const float> got, const Exact& expected, double scale) {
  EXPECT_EQ(got.size(), expected.size());
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (std::isnan(off)) return off;
    most = std::max(most, off);
  }
  return most > 0 ? most / scale : 0;
}
double largest(const Exact& row) {
  double most = 0;
  for (const double value : row) most = std::max(most, std::abs(value));
  return most;
}
double worst(std::span<const float> got, const Exact& expected) {
  return worst(got, expected, largest(expected));
}

struct Normed {
  Exact out, d_x, d_weight;
};
Normed norm_in_double(const Exact& x, const Exact& weight, const Exact& d_out, double eps) {
  const auto width = static_cast<double>(x.size());
  double squares = 0, dot = 0;
  for (std::size_t i = 0; i < x.size(); ++i) squares += x[i] * x[i];
  for (std::size_t i = 0; i < x.size(); ++i) dot += x[i] * weight[i] * d_out[i];
  const double factor = 1 / std::sqrt(squares / width + eps);
  Normed made;
  for (std::size_t i = 0; i < x.size(); ++i) {
    made.out.push_back(x[i] * factor * weight[i]);
    made.d_x.push_back(factor * (d_out[i] * weight[i] - x[i] * dot * factor * factor / width));
    made.d_weight.push_back(d_out[i] * x[i] * factor);
  }
  return made;
}

// Kinds of rows: zeros, whose gradient is that of x / sqrt(eps); usual values; a mean ten thousand
// times the spread. Others have squares near eps, squares far below it (where float32 has no normal
// numbers), or huge values.
const Wave kRows[] = {{.size = 0},     {.size = 1},    {.size = 1, .mean = 1e4},    {.size = 1e-3},
                      {.size = 1e-20}, {.size = 1e15}, {.size = 1e-3, .mean = -300}};

// Sums of at most 2048 terms in float32: about the root of their number times 2^-24, doubled.
constexpr double kSums = 1e-5;

TEST(RowsOfExtremes, NormAndItsGradientAreThoseOfFloat64) {
  for (const std::int64_t width : {5, 64, 75, 2048})
    for (const Wave& of : kRows)
      for (const double eps : {1e-6, 1e-5}) {
        const Row x = wave(width, {.step = 0.7, .size = of.size, .mean = of.mean});
        const Row weight = wave(width, {.step = 1.1, .mean = 0.5});
        const Row d_out = wave(width, {.step = 1.9});
        const Normed expected = norm_in_double(exact(x), exact(weight), exact(d_out), eps);
        Row out(x.size()), d_x(x.size()), d_weight(x.size());
        kernels<float>().rms_norm(x.data(), weight.data(), width, eps, out.data());
        kernels<float>().rms_norm_backward(x.data(), weight.data(), d_out.data(), width, eps,
                                           d_x.data(), d_weight.data());
        EXPECT_LT(worst(out, expected.out), kSums) << width << ", " << of.size << ", " << of.mean;
        EXPECT_LT(worst(d_x, expected.d_x), kSums) << width << ", " << of.size << ", " << of.mean;
        EXPECT_LT(worst(d_weight, expected.d_weight), kSums) << width << ", " << of.size;
      }
}

// The gradient of a masked token is zero and changes no sum.
TEST(RowsOfExtremes, AMaskedRowLeavesTheNormsGradientsAsTheyWere) {
  const Row x = wave(64, {.step = 0.7, .size = 1e4}), weight = wave(64, {.step = 1.1});
  const Row nothing(64), before = wave(64, {.step = 0.3});
  Row d_x = before, d_weight = before;
  kernels<float>().rms_norm_backward(x.data(), weight.data(), nothing.data(), 64, 1e-6, d_x.data(),
                                     d_weight.data());
  EXPECT_EQ(d_x, before);
  EXPECT_EQ(d_weight, before);
}

TEST(RowsOfExtremes, RotationIsThatOfFloat64BothWays) {
  constexpr std::int64_t kHeads = 3, kHalf = 16;
  for (const double size : {0.0, 1.0, 1e4, 1e-20, 1e30})
    for (const double direction : {1.0, -1.0}) {
      const Row cos = wave(kHalf, {.step = 0.9}), sin = wave(kHalf, {.step = 2.3});
      const Row before = wave(kHeads * 2 * kHalf, {.step = 0.7, .size = size});
      Row rotated = before;
      kernels<float>().rotate(rotated.data(), kHeads, kHalf, cos.data(), sin.data(),
                              static_cast<float>(direction));
      Exact expected = exact(before);
      for (std::size_t at = 0; at < expected.size(); at += 2 * kHalf)
        for (std::size_t i = 0; i < kHalf; ++i) {
          const double a = before[at + i], b = before[at + kHalf + i], c = cos[i];
          const double s = direction * static_cast<double>(sin[i]);
          expected[at + i] = a * c - b * s;
          expected[at + kHalf + i] = b * c + a * s;
        }
      EXPECT_LT(worst(rotated, expected), 1e-6) << size;
    }
}

// Every gate with every other factor.
struct Gated {
  Row gate, up, d_out;
};
Gated gates_of_all_sizes() {
  Gated made;
  for (const float gate : {0.0f, 1e-4f, 0.5f, 1.0f, 4.0f, 20.0f, 80.0f, 1e3f, 1e4f, -1e-4f, -0.5f,
                           -1.0f, -4.0f, -20.0f, -80.0f, -1e3f, -1e4f})
    for (const float up : {0.0f, 1.0f, -3.0f, 1e-4f, 1e4f})
      for (const float d_out : {0.0f, 1.0f, -1e-6f, 1e4f}) {
        made.gate.push_back(gate);
        made.up.push_back(up);
        made.d_out.push_back(d_out);
      }
  return made;
}

// Errors are relative to each element. The kernel's e^x ends at e^88, so a gate of -1e4 leaves
// e^-88 of itself and not 0. The products here stay below this constant.
constexpr double kNothing = 1e-25;
double worst_element(const Row& got, const Exact& expected) {
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double off = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (std::isnan(off)) return off;
    if (off > kNothing) most = std::max(most, off / std::abs(expected[i]));
  }
  return most;
}

TEST(RowsOfExtremes, SwiGluAndItsGradientAreThoseOfFloat64) {
  const Gated of = gates_of_all_sizes();
  const std::size_t count = of.gate.size();
  Row out(count), again(count), d_gate(count), d_up(count);
  const auto n = static_cast<std::int64_t>(count);
  kernels<float>().swiglu(of.gate.data(), of.up.data(), n, out.data());
  kernels<float>().swiglu_backward(of.gate.data(), of.up.data(), of.d_out.data(), n, d_gate.data(),
                                   d_up.data(), again.data());
  Exact expected, expected_gate, expected_up;
  for (std::size_t i = 0; i < count; ++i) {
    const double g = of.gate[i], u = of.up[i], d = of.d_out[i];
    const double s = 1 / (1 + std::exp(-g));
    expected.push_back(g * s * u);
    expected_gate.push_back(d * u * s * (1 + g * (1 - s)));
    expected_up.push_back(d * g * s);
  }
  // e^x is within two units in the last place of float32, followed by a few operations. The gate's
  // gradient at -1 is a difference of a quarter of its operands' size.
  EXPECT_LT(worst_element(out, expected), 2e-6);
  EXPECT_LT(worst_element(d_gate, expected_gate), 5e-6);
  EXPECT_LT(worst_element(d_up, expected_up), 2e-6);
  EXPECT_EQ(out, again);
}

constexpr LayerShape kShape = {.heads = 4, .kv_heads = 2, .head_dim = 16};

struct AttentionInDouble {
  Exact out, d_qkv;
};

// One query of one head, which adds to the gradients of the keys and values that it attends to.
// `at` returns the index of a token's query, key or value of this head.
struct OneQuery {
  std::size_t query, out;
  std::vector<std::size_t> keys, values;
};
void attend_in_double(const OneQuery& one, const Exact& qkv, const Exact& d_out,
                      AttentionInDouble& made) {
  constexpr auto D = static_cast<std::size_t>(kShape.head_dim);
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  const auto dot = [](const double* a, const double* b) {
    double sum = 0;
    for (std::size_t i = 0; i < D; ++i) sum += a[i] * b[i];
    return sum;
  };
  Exact p, d_p;
  for (const std::size_t key : one.keys) p.push_back(scale * dot(&qkv[one.query], &qkv[key]));
  const double top = std::ranges::max(p);
  double total = 0, delta = 0;
  for (double& score : p) total += score = std::exp(score - top);
  for (double& share : p) share /= total;
  for (const std::size_t value : one.values) d_p.push_back(dot(&d_out[one.out], &qkv[value]));
  for (std::size_t j = 0; j < p.size(); ++j) delta += p[j] * d_p[j];
  for (std::size_t j = 0; j < p.size(); ++j) {
    const double d_score = p[j] * (d_p[j] - delta) * scale;
    for (std::size_t i = 0; i < D; ++i) {
      made.out[one.out + i] += p[j] * qkv[one.values[j] + i];
      made.d_qkv[one.query + i] += d_score * qkv[one.keys[j] + i];
      made.d_qkv[one.keys[j] + i] += d_score * qkv[one.query + i];
      made.d_qkv[one.values[j] + i] += p[j] * d_out[one.out + i];
    }
  }
}

AttentionInDouble attention_in_double(const std::vector<std::int64_t>& offsets, const Exact& qkv,
                                      const Exact& d_out) {
  AttentionInDouble made{.out = Exact(d_out.size()), .d_qkv = Exact(qkv.size())};
  const auto offset = [](std::int64_t row, std::int64_t head, std::int64_t heads) {
    return static_cast<std::size_t>((row * heads + head) * kShape.head_dim);
  };
  const std::int64_t columns = kShape.heads + 2 * kShape.kv_heads;
  for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
    for (std::int64_t row = offsets[b]; row < offsets[b + 1]; ++row)
      for (std::int64_t head = 0; head < kShape.heads; ++head) {
        OneQuery one{.query = offset(row, head, columns), .out = offset(row, head, kShape.heads)};
        const std::int64_t key = kShape.heads + head / kShape.group();
        for (std::int64_t before = offsets[b]; before <= row; ++before) {
          one.keys.push_back(offset(before, key, columns));
          one.values.push_back(offset(before, key + kShape.kv_heads, columns));
        }
        attend_in_double(one, qkv, d_out, made);
      }
  return made;
}

// `size` of queries and keys. Scores grow with its square.
struct Scores {
  double size, of_out, of_gradient;
};

TEST(RowsOfExtremes, AttentionIsThatOfFloat64ForLargeScoresAndSequencesOfOneToken) {
  const std::vector<std::int64_t> offsets = {0, 1, 1, 40, 41, 105};
  const std::int64_t tokens = offsets.back();
  // float32 knows a score of a thousand to 1e-4, and the logarithm of a probability too. If one key
  // has all the probability, a score's gradient is a difference of equal numbers. The error is
  // therefore relative to these numbers.
  for (const Scores& of : {Scores{0, 1e-6, 1e-6}, Scores{1, 1e-5, 1e-5}, Scores{22, 2e-3, 5e-4}}) {
    Row qkv = wave(tokens * kShape.qkv(), {.step = 0.77});
    const auto width = static_cast<std::size_t>(kShape.qkv());
    const auto rotated = static_cast<std::size_t>(kShape.query() + kShape.key_value());
    for (std::size_t i = 0; i < qkv.size(); ++i)
      if (i % width < rotated) qkv[i] *= static_cast<float>(of.size);
    const Row d_out = wave(tokens * kShape.query(), {.step = 1.3});
    Row out(d_out.size()), d_qkv(qkv.size());
    Row log_normaliser(static_cast<std::size_t>(kShape.heads * tokens));
    attend(kShape, offsets, qkv.data(), out.data(), log_normaliser.data());
    attend_backward<float>(kShape, offsets,
                           {.qkv = qkv.data(),
                            .attended = out.data(),
                            .log_normaliser = log_normaliser.data(),
                            .d_attended = d_out.data(),
                            .d_qkv = d_qkv.data()});
    const AttentionInDouble expected = attention_in_double(offsets, exact(qkv), exact(d_out));
    EXPECT_LT(worst(out, expected.out, 1), of.of_out) << of.size;
    const double most = std::max(of.size, 1.0) * static_cast<double>(kShape.head_dim);
    EXPECT_LT(worst(d_qkv, expected.d_qkv, most), of.of_gradient) << of.size;
    // One token attends to itself alone.
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(out[i], qkv[rotated + i]) << i;
  }
}

}  // namespace
}  // namespace tritonsmith::model::cpu
