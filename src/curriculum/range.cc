#include "curriculum/range.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace tritonsmith::curriculum {
namespace {

constexpr double kEpsilon = 1.2e-7;       // of fp32
constexpr double kLargestValue = 250;     // of elementwise results
constexpr double kLargestError = 2e-5;    // a fifth of the tightest usual tolerance
constexpr double kSmallestSpread = 0.05;  // with less spread, the operator's input hardly matters
constexpr int kSamples = 33;              // samples of one operand
constexpr int kSamplesEach = 13;          // samples of each of two operands

// The range of normal samples in practice: one in ten million lies outside.
constexpr Range kNormal{-5.2, 5.2, 0};
constexpr Range kUniform{0, 1, 0};

double at(const Range& range, int sample, int samples = kSamples) {
  return range.low + (range.high - range.low) * sample / (samples - 1);
}

double step(const Range& range, int samples) { return (range.high - range.low) / (samples - 1); }

bool is_sane(const Range& range) {
  return std::isfinite(range.low) && std::isfinite(range.high) &&
         std::max(std::fabs(range.low), std::fabs(range.high)) <= kLargestValue &&
         range.high - range.low >= kSmallestSpread && range.error <= kLargestError;
}

// Returns the image of two intervals under an elementwise operator. The operands' errors are
// multiplied by the steepest slope of the samples.
std::optional<Range> elementwise(const Operator& op, const Constants& constants, const Range& x,
                                 const Range& y) {
  Range result{INFINITY, -INFINITY, 0};
  double slope_x = 0, slope_y = 0;
  bool equals_x = true, equals_y = op.kind == OpKind::binary;
  const bool binary = op.kind == OpKind::binary;
  const int samples = binary ? kSamplesEach : kSamples, samples_y = binary ? kSamplesEach : 1;
  std::array<double, kSamplesEach> before{};  // the values at the previous x
  for (int i = 0; i < samples; ++i)
    for (int j = 0; j < samples_y; ++j) {
      const double a = at(x, i, samples), b = at(y, j, kSamplesEach);
      const double value = op.value(a, b, constants);
      result.low = std::min(result.low, value);
      result.high = std::max(result.high, value);
      equals_x &= value == a;
      equals_y &= value == b;
      const auto column = static_cast<std::size_t>(j);
      if (i > 0) slope_x = std::max(slope_x, std::fabs(value - before[column]) / step(x, samples));
      before[column] = value;
      if (j > 0)
        slope_y = std::max(slope_y, std::fabs(value - before[column - 1]) / step(y, kSamplesEach));
    }
  if (equals_x || equals_y) return std::nullopt;
  // The slope of a square root at zero is infinite, which samples do not show.
  if (op.op == Op::sqrt_abs && x.error > 0 && x.low < 0.05 && x.high > -0.05) return std::nullopt;
  const double magnitude = std::max(std::fabs(result.low), std::fabs(result.high));
  result.error = slope_x * x.error + slope_y * y.error + (op.exact ? 0 : 2 * kEpsilon * magnitude);
  if (!is_sane(result)) return std::nullopt;
  return result;
}

// Bounds of a row operator over rows of n independent values in x. A sum takes the bound that sums
// of n values reach in practice, not the worst case.
std::optional<Range> reduced(Op op, const Range& x, int n) {
  const double magnitude = std::max(std::fabs(x.low), std::fabs(x.high));
  const double middle = (x.low + x.high) / 2, spread = x.high - x.low;
  const double mean_low = x.low >= 0 ? x.low : middle - spread / 4;
  const double mean_high = x.high <= 0 ? x.high : middle + spread / 4;
  const double rounding = x.error + 4 * kEpsilon * magnitude;
  switch (op) {
    case Op::sum:
      return Range{n * mean_low, n * mean_high, rounding};
    case Op::mean:
      return Range{mean_low, mean_high, rounding};
    case Op::max:
    case Op::min:
      return Range{x.low, x.high, x.error};
    case Op::sumsq:
      return Range{0, n * magnitude * magnitude, rounding};
    case Op::l2norm:
      return Range{0, std::sqrt(n) * magnitude, rounding};
    case Op::var:
      return Range{0, spread * spread / 4, x.error * spread + 4 * kEpsilon * spread * spread};
    case Op::logsumexp:
      return Range{x.low, x.high + std::log(n), rounding};
    case Op::softmax:
      return Range{0, 1, 2 * x.error + 4 * kEpsilon};
    case Op::log_softmax:
      return Range{-spread - std::log(n), 0, 2 * rounding};
    case Op::layernorm:
      return Range{-6, 6, 4 * rounding + 8 * kEpsilon};
    case Op::rmsnorm:
      return Range{x.low < 0 ? -6.0 : 0.0, x.high > 0 ? 6.0 : 0.0, 4 * rounding + 8 * kEpsilon};
    case Op::l2normalize:
    case Op::peak_normalize:
      return Range{x.low < 0 ? -1.0 : 0.0, x.high > 0 ? 1.0 : 0.0, 2 * rounding};
    case Op::center:
      return Range{-spread * 0.75, spread * 0.75, 2 * rounding};
    case Op::matmul:
      return Range{-6, 6, 2e-6};
    default:
      CHECK(false, "{} reduces nothing", describe(op).name);
  }
}

// The error of a long sum is relative to its large value. An operator after it must not amplify
// that error.
constexpr bool grows_with_n(Op op) { return op == Op::sum || op == Op::sumsq || op == Op::l2norm; }

bool suits_long_sums(Op op) {
  return op == Op::mul_constant || op == Op::div_constant || op == Op::neg || op == Op::abs ||
         op == Op::relu || op == Op::leaky_relu || op == Op::log1p_abs;
}

// f(g(x)) = f(x), as for cos of abs and square of negate.
bool undoes(const Operator& outer, const Constants& constants, const Expression& inner,
            const Range& x) {
  const Operator& op = describe(inner.op);
  if (outer.kind != OpKind::unary || op.kind != OpKind::unary) return false;
  for (int i = 0; i < kSamples; ++i) {
    const double inside = op.value(at(x, i), 0, inner.constants);
    if (outer.value(inside, 0, constants) != outer.value(at(x, i), 0, constants)) return false;
  }
  return true;
}

// The same for row operators. A square under a sum is also refused, because it is another operator.
bool undoes(Op core, Op inner) {
  const bool shifts = inner == Op::add_constant;
  const bool scales = inner == Op::mul_constant || inner == Op::div_constant;
  switch (core) {
    case Op::sum:
    case Op::mean:
      return inner == Op::square;
    case Op::sumsq:
    case Op::l2norm:
    case Op::peak_normalize:
      return inner == Op::abs || inner == Op::neg || scales;
    case Op::var:
      return shifts || inner == Op::neg;
    case Op::softmax:
    case Op::log_softmax:
    case Op::center:
      return shifts;
    case Op::layernorm:
      return shifts || scales;
    case Op::rmsnorm:
      return scales;
    default:
      return false;
  }
}

// Softmax gives small values. An operator that adds to them or is flat at zero would hide them
// below any tolerance.
bool suits_softmax(Op op) {
  return op == Op::mul || op == Op::mul_constant || op == Op::div_constant || op == Op::neg ||
         op == Op::glu || op == Op::div_abs;
}

class Estimate {
 public:
  Estimate(const Program& program, int n) : program_(program), n_(n) {}

  // Returns the range of a tree's value. `operand` receives the range of its first operand.
  std::optional<Range> visit(const Expression& tree, Range* operand = nullptr) const {
    if (tree.op == Op::input)
      return program_.inputs[static_cast<std::size_t>(tree.input)].draw == Draw::normal ? kNormal
                                                                                        : kUniform;
    const Operator& op = describe(tree.op);
    Range inner;
    const auto x = visit(tree.children[0], &inner);
    if (!x) return std::nullopt;
    if (operand) *operand = *x;
    return op.value ? after(tree, *x, inner) : row_operator(tree, *x);
  }

 private:
  std::optional<Range> row_operator(const Expression& tree, const Range& x) const {
    if (undoes(tree.op, tree.children[0].op)) return std::nullopt;
    // If the values of a row are nearly equal, the result is mostly rounding error.
    if ((tree.op == Op::center || tree.op == Op::layernorm) && x.high - x.low < 0.5)
      return std::nullopt;
    return reduced(tree.op, x, n_);
  }

  std::optional<Range> after(const Expression& tree, const Range& x, const Range& inner) const {
    const Operator& op = describe(tree.op);
    const Op below = tree.children[0].op;
    if (grows_with_n(below)) {
      const bool changes =
          !(x.low >= 0 && (op.op == Op::relu || op.op == Op::abs || op.op == Op::leaky_relu));
      if (!suits_long_sums(op.op) || !changes) return std::nullopt;
      return x;
    }
    if (below == Op::softmax && !suits_softmax(op.op)) return std::nullopt;
    if (describe(below).kind == OpKind::unary &&
        undoes(op, tree.constants, tree.children[0], inner))
      return std::nullopt;
    Range y = kUniform;
    if (op.kind == OpKind::binary) {
      const auto second = visit(tree.children[1]);
      if (!second) return std::nullopt;
      y = *second;
    }
    return elementwise(op, tree.constants, x, y);
  }

  const Program& program_;
  int n_;
};

}  // namespace

std::optional<Range> range_of(const Program& program, int longest_row) {
  return Estimate(program, longest_row).visit(program.root);
}

}  // namespace tritonsmith::curriculum
