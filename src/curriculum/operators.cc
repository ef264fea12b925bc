#include "curriculum/operators.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"

namespace tritonsmith::curriculum {
namespace {

using C = Constants;
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_of(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double clamp_of(double x, double low, double high) { return std::fmin(std::fmax(x, low), high); }
double elu_of(double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); }

const std::vector<Operator>& table() {
  static const std::vector<Operator> operators = {
      {Op::input, OpKind::leaf, "input", "input", "{x}", {}},
      {Op::core_value, OpKind::leaf, "core_value", "core_value", "{x}", {}},

      {Op::relu, OpKind::unary, "relu", "max", "relu", {}, [](double x, double, const C&) { return std::fmax(x, 0); }, true},
      {Op::leaky_relu, OpKind::unary, "leaky_relu", "leaky_relu", "leaky relu with slope {0}", {{0.01}, {0.1}, {0.2}, {0.25}}, [](double x, double, const C& c) { return x > 0 ? x : c[0] * x; }},
      {Op::elu, OpKind::unary, "elu", "elu", "elu", {}, [](double x, double, const C&) { return elu_of(x, 1); }},
      {Op::celu, OpKind::unary, "celu", "elu", "celu with alpha {0}", {{0.5}, {1.5}, {2.0}}, [](double x, double, const C& c) { return x > 0 ? x : c[0] * std::expm1(x / c[0]); }},
      {Op::selu, OpKind::unary, "selu", "elu", "selu", {}, [](double x, double, const C&) { return 1.0507009873554805 * elu_of(x, 1.6732632423543772); }},
      {Op::sigmoid, OpKind::unary, "sigmoid", "sigmoid", "sigmoid", {}, [](double x, double, const C&) { return sigmoid_of(x); }},
      {Op::tanh, OpKind::unary, "tanh", "tanh", "tanh", {}, [](double x, double, const C&) { return std::tanh(x); }},
      {Op::gelu, OpKind::unary, "gelu", "gelu", "gelu", {}, [](double x, double, const C&) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }},
      {Op::gelu_tanh, OpKind::unary, "gelu_tanh", "gelu", "gelu (tanh form)", {}, [](double x, double, const C&) { return x * sigmoid_of(1.5957691216057308 * (x + 0.044715 * x * x * x)); }},
      {Op::silu, OpKind::unary, "silu", "silu", "silu", {}, [](double x, double, const C&) { return x * sigmoid_of(x); }},
      {Op::quick_gelu, OpKind::unary, "quick_gelu", "silu", "quick gelu (x times sigmoid of 1.702 x)", {}, [](double x, double, const C&) { return x * sigmoid_of(1.702 * x); }},
      {Op::mish, OpKind::unary, "mish", "mish", "mish", {}, [](double x, double, const C&) { return x * std::tanh(softplus_of(x)); }},
      {Op::softplus, OpKind::unary, "softplus", "softplus", "softplus", {}, [](double x, double, const C&) { return softplus_of(x); }},
      {Op::softsign, OpKind::unary, "softsign", "softsign", "softsign", {}, [](double x, double, const C&) { return x / (1 + std::fabs(x)); }},
      {Op::hardswish, OpKind::unary, "hardswish", "hardswish", "hardswish", {}, [](double x, double, const C&) { return x * clamp_of(x + 3, 0, 6) / 6; }},
      {Op::hardsigmoid, OpKind::unary, "hardsigmoid", "hardsigmoid", "hardsigmoid", {}, [](double x, double, const C&) { return clamp_of(x / 6 + 0.5, 0, 1); }},
      {Op::hardtanh, OpKind::unary, "hardtanh", "clamp", "hardtanh", {}, [](double x, double, const C&) { return clamp_of(x, -1, 1); }, true},
      {Op::relu6, OpKind::unary, "relu6", "clamp", "relu6", {}, [](double x, double, const C&) { return clamp_of(x, 0, 6); }, true},
      {Op::clamp, OpKind::unary, "clamp", "clamp", "clamp to [{0}, {1}]", {{-0.5, 0.5}, {-2.0, 2.0}, {0.0, 1.0}, {-1.0, 2.0}, {-0.5, 1.5}}, [](double x, double, const C& c) { return clamp_of(x, c[0], c[1]); }, true},
      {Op::softshrink, OpKind::unary, "softshrink", "softshrink", "softshrink with threshold {0}", {{0.25}, {0.5}, {1.0}}, [](double x, double, const C& c) { return x - clamp_of(x, -c[0], c[0]); }},
      {Op::logsigmoid, OpKind::unary, "logsigmoid", "softplus", "log sigmoid", {}, [](double x, double, const C&) { return -softplus_of(-x); }},
      {Op::tanhshrink, OpKind::unary, "tanhshrink", "tanhshrink", "tanhshrink", {}, [](double x, double, const C&) { return x - std::tanh(x); }},
      {Op::erf, OpKind::unary, "erf", "erf", "erf", {}, [](double x, double, const C&) { return std::erf(x); }},
      {Op::exp, OpKind::unary, "exp", "exp", "exp", {}, [](double x, double, const C&) { return std::exp(x); }},
      {Op::exp_neg_abs, OpKind::unary, "exp_neg_abs", "exp_neg_abs", "exp of minus abs", {}, [](double x, double, const C&) { return std::exp(-std::fabs(x)); }},
      {Op::gaussian, OpKind::unary, "gaussian", "gaussian", "exp of minus square", {}, [](double x, double, const C&) { return std::exp(-x * x); }},
      {Op::log1p_abs, OpKind::unary, "log1p_abs", "log1p_abs", "log of one plus abs", {}, [](double x, double, const C&) { return std::log1p(std::fabs(x)); }},
      {Op::sqrt_abs, OpKind::unary, "sqrt_abs", "sqrt_abs", "square root of abs", {}, [](double x, double, const C&) { return std::sqrt(std::fabs(x)); }},
      {Op::inverse_root, OpKind::unary, "inverse_root", "inverse_root", "one over the square root of one plus square", {}, [](double x, double, const C&) { return 1 / std::sqrt(1 + x * x); }},
      {Op::reciprocal, OpKind::unary, "reciprocal", "reciprocal", "one over one plus abs", {}, [](double x, double, const C&) { return 1 / (1 + std::fabs(x)); }},
      {Op::square, OpKind::unary, "square", "square", "square", {}, [](double x, double, const C&) { return x * x; }},
      {Op::cube, OpKind::unary, "cube", "cube", "cube", {}, [](double x, double, const C&) { return x * x * x; }},
      {Op::abs, OpKind::unary, "abs", "abs", "abs", {}, [](double x, double, const C&) { return std::fabs(x); }, true},
      {Op::neg, OpKind::unary, "neg", "mul", "negate", {}, [](double x, double, const C&) { return -x; }, true},
      {Op::sin, OpKind::unary, "sin", "sin", "sin", {}, [](double x, double, const C&) { return std::sin(x); }},
      {Op::cos, OpKind::unary, "cos", "cos", "cos", {}, [](double x, double, const C&) { return std::cos(x); }},

      {Op::add_constant, OpKind::unary, "add_constant", "add", "add {0}", {{0.5}, {1.0}, {2.0}, {0.25}, {1.5}, {-0.5}, {-1.0}}, [](double x, double, const C& c) { return x + c[0]; }},
      {Op::subtract_from, OpKind::unary, "subtract_from", "subtract_from", "subtract from {0}", {{1.0}, {2.0}, {0.5}, {1.5}}, [](double x, double, const C& c) { return c[0] - x; }},
      {Op::mul_constant, OpKind::unary, "mul_constant", "mul", "multiply by {0}", {{0.5}, {2.0}, {1.5}, {0.25}, {3.0}, {0.1}, {-0.5}}, [](double x, double, const C& c) { return x * c[0]; }},
      {Op::div_constant, OpKind::unary, "div_constant", "mul", "divide by {0}", {{2.0}, {3.0}, {4.0}, {1.5}, {0.5}}, [](double x, double, const C& c) { return x / c[0]; }},
      {Op::max_constant, OpKind::unary, "max_constant", "max", "maximum with {0}", {{0.5}, {-0.5}, {1.0}, {-1.0}, {0.25}}, [](double x, double, const C& c) { return std::fmax(x, c[0]); }, true},
      {Op::min_constant, OpKind::unary, "min_constant", "min", "minimum with {0}", {{0.5}, {-0.5}, {1.0}, {2.0}, {0.75}}, [](double x, double, const C& c) { return std::fmin(x, c[0]); }, true},

      {Op::add, OpKind::binary, "add", "add", "add {y}", {}, [](double x, double y, const C&) { return x + y; }},
      {Op::sub, OpKind::binary, "sub", "add", "subtract {y}", {}, [](double x, double y, const C&) { return x - y; }},
      {Op::mul, OpKind::binary, "mul", "mul", "multiply by {y}", {}, [](double x, double y, const C&) { return x * y; }},
      {Op::maximum, OpKind::binary, "maximum", "max", "maximum with {y}", {}, [](double x, double y, const C&) { return std::fmax(x, y); }, true},
      {Op::minimum, OpKind::binary, "minimum", "min", "minimum with {y}", {}, [](double x, double y, const C&) { return std::fmin(x, y); }, true},
      {Op::div_abs, OpKind::binary, "div_abs", "div_abs", "divide by one plus abs of {y}", {}, [](double x, double y, const C&) { return x / (1 + std::fabs(y)); }},
      {Op::squared_difference, OpKind::binary, "squared_difference", "squared_difference", "squared difference with {y}", {}, [](double x, double y, const C&) { return (x - y) * (x - y); }},
      {Op::hypot, OpKind::binary, "hypot", "hypot", "square root of one plus its square plus the square of {y}", {}, [](double x, double y, const C&) { return std::sqrt(1 + x * x + y * y); }},
      {Op::lerp, OpKind::binary, "lerp", "lerp", "interpolate towards {y} by {0}", {{0.25}, {0.5}, {0.75}, {0.1}}, [](double x, double y, const C& c) { return x + c[0] * (y - x); }},
      {Op::glu, OpKind::binary, "glu", "glu", "multiply by sigmoid of {y}", {}, [](double x, double y, const C&) { return x * sigmoid_of(y); }},

      {Op::sum, OpKind::reduction, "sum", "sum", "sum over the last dimension", {}},
      {Op::mean, OpKind::reduction, "mean", "sum", "mean over the last dimension", {}},
      {Op::max, OpKind::reduction, "max", "row_max", "max over the last dimension", {}},
      {Op::min, OpKind::reduction, "min", "row_min", "min over the last dimension", {}},
      {Op::sumsq, OpKind::reduction, "sumsq", "sumsq", "sum of squares over the last dimension", {}},
      {Op::l2norm, OpKind::reduction, "l2norm", "sumsq", "euclidean norm over the last dimension", {}},
      {Op::var, OpKind::reduction, "var", "var", "variance (biased) over the last dimension", {}},
      {Op::logsumexp, OpKind::reduction, "logsumexp", "logsumexp", "logsumexp over the last dimension", {}},

      {Op::softmax, OpKind::row, "softmax", "softmax", "softmax over the last dimension", {}},
      {Op::log_softmax, OpKind::row, "log_softmax", "log_softmax", "log softmax over the last dimension", {}},
      {Op::layernorm, OpKind::row, "layernorm", "layernorm", "layer norm over the last dimension with eps {0}", {{1e-5}, {1e-6}, {1e-3}}},
      {Op::rmsnorm, OpKind::row, "rmsnorm", "rmsnorm", "rms norm over the last dimension with eps {0}", {{1e-5}, {1e-6}, {1e-3}}},
      {Op::l2normalize, OpKind::row, "l2normalize", "l2normalize", "divide each row by one plus its euclidean norm", {}},
      {Op::center, OpKind::row, "center", "center", "subtract the mean of each row", {}},
      {Op::peak_normalize, OpKind::row, "peak_normalize", "peak_normalize", "divide each row by one plus its largest absolute value", {}},

      {Op::matmul, OpKind::matmul, "matmul", "matmul", "matrix product with {y}", {}},
  };
  return operators;
}

}  // namespace

const Operator& describe(Op op) {
  const Operator& found = table()[static_cast<std::size_t>(op)];
  CHECK(found.op == op, "the table of operators is out of order at {}", found.name);
  return found;
}

std::span<const Operator> all_operators() { return table(); }

bool is_commutative(Op op) {
  return op == Op::add || op == Op::mul || op == Op::maximum || op == Op::minimum ||
         op == Op::squared_difference || op == Op::hypot;
}

std::string constant_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace tritonsmith::curriculum
