// Lists the operators of the curriculum's grammar. One row of the table says an operator's name,
// its numbers of operands and constants, and its function. Its PyTorch form stands in
// torch_forms.cc, its Triton form in teacher/triton_forms.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::curriculum {

enum class Op {
  // Leaves: an input of the module, and the row operator's value for the operators after it.
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
  // Rows [.., n] to one value for each row.
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

// The effect of an operator on shapes.
enum class OpKind { leaf, unary, binary, reduction, row, matmul };

using Constants = std::vector<double>;

struct Operator {
  Op op;
  OpKind kind;
  std::string_view name;
  // Operators of one class are equal up to constants, sign or shape: relu and max with a constant,
  // or sum and mean. The split treats them as one operator.
  std::string_view op_class;
  // The operator in an instruction: {x}, {y} are operands, {0}, {1} constants.
  std::string_view phrase;
  // The constants to choose from; empty if the operator has none.
  std::vector<Constants> choices;
  // For elementwise operators only.
  double (*value)(double x, double y, const Constants& c) = nullptr;
  // True if the operator adds no rounding error.
  bool exact = false;
};

const Operator& describe(Op op);
std::span<const Operator> all_operators();
bool is_commutative(Op op);

// Writes a constant as code does: the shortest decimal that reads back as the same number, such as
// "2.0" and "0.01".
std::string constant_text(double value);

}  // namespace tritonsmith::curriculum
