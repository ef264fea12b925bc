// Operators: the words of the curriculum's grammar, one row a word: what it is called, how many
// operands and constants it takes, what it computes. How PyTorch and Triton write it stands
// elsewhere (torch_source.cc, teacher/triton_forms.cc).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::curriculum {

enum class Op {
  // Leaves: an input of the module; the value of the row operator, seen from what follows it.
  input,
  core_value,
  // One operand.
  relu,
  leaky_relu,
  elu,
  celu,
  selu,
  sigmoid,
  tanh,
  gelu,
  gelu_tanh,
  silu,
  quick_gelu,
  mish,
  softplus,
  softsign,
  hardswish,
  hardsigmoid,
  hardtanh,
  relu6,
  clamp,
  softshrink,
  logsigmoid,
  tanhshrink,
  erf,
  exp,
  exp_neg_abs,
  gaussian,
  log1p_abs,
  sqrt_abs,
  inverse_root,
  reciprocal,
  square,
  cube,
  abs,
  neg,
  sin,
  cos,
  // One operand and a constant.
  add_constant,
  subtract_from,
  mul_constant,
  div_constant,
  max_constant,
  min_constant,
  // Two operands.
  add,
  sub,
  mul,
  maximum,
  minimum,
  div_abs,
  squared_difference,
  hypot,
  lerp,
  glu,
  // Rows [.., n] to one value each.
  sum,
  mean,
  max,
  min,
  sumsq,
  l2norm,
  var,
  logsumexp,
  // Rows to rows.
  softmax,
  log_softmax,
  layernorm,
  rmsnorm,
  l2normalize,
  center,
  peak_normalize,
  // [m, k] times a matrix [k, n].
  matmul,
};

// What an operator does to shapes.
enum class OpKind { leaf, unary, binary, reduction, row, matmul };

using Constants = std::vector<double>;

struct Operator {
  Op op;
  OpKind kind;
  std::string_view name;
  // Operators of one class are the same up to constants, sign or shape (relu and max with a
  // constant; sum and mean); the split treats them as one.
  std::string_view op_class;
  // How an instruction says it; {x}, {y} are operands, {0}, {1} constants.
  std::string_view phrase;
  // The constants to choose from; empty where there are none.
  std::vector<Constants> choices;
  // Elementwise operators only.
  double (*value)(double x, double y, const Constants& c) = nullptr;
  // Adds no rounding of its own.
  bool exact = false;
};

const Operator& describe(Op op);
std::span<const Operator> all_operators();
bool is_commutative(Op op);

// A constant as code writes it: the shortest decimal that reads back the same; "2.0", "0.01".
std::string constant_text(double value);

}  // namespace tritonsmith::curriculum
