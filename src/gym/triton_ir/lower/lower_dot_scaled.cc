#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// One operand with its scales, if it has any.
struct Scaled {
  Value values, scales;
  std::string format;     // "e2m1" for two fp4 numbers in a byte
  bool is_right = false;  // [inner, outer] instead of [outer, inner]

  bool is_fp4() const { return format == "e2m1"; }
  std::int64_t outer() const { return values.type.shape[is_right ? 1 : 0]; }
  std::int64_t inner() const { return values.type.shape[is_right ? 0 : 1] * (is_fp4() ? 2 : 1); }
  // Tells whether these can be the scales: a row for each row or column of the operand, with a
  // scale for 16 or 32 numbers.
  bool takes(const Value& given) const {
    const std::vector<std::int64_t>& shape = given.type.shape;
    return shape.size() == 2 && shape[0] == outer() &&
           (shape[1] * 16 == inner() || shape[1] * 32 == inner()) &&
           (given.type.element == Element::i8 || given.type.element == Element::f8e4m3fn);
  }
};

std::string format_of(const Operation& operation, const std::string& side) {
  const auto found = operation.attributes.find(side);
  return found == operation.attributes.end() ? "" : found->second;
}

// Returns the operand as fp32 with its scales multiplied out.
Value multiplied_out(Lowering& lowering, const Scaled& side) {
  const std::int64_t outer = side.outer(), inner = side.inner();
  const bool scaled = side.scales.defined();
  const bool by_power = !scaled || side.scales.type.element == Element::i8;
  const ScaledForm form =
      side.is_fp4() ? (by_power ? ScaledForm::fp4_by_power : ScaledForm::fp4_by_number)
                    : (by_power ? ScaledForm::float_by_power : ScaledForm::float_by_number);
  Value made = lowering.make(tensor_of(
      Element::f32, side.is_right ? std::vector{inner, outer} : std::vector{outer, inner}));
  Instruction& instruction = lowering.builder().emit(
      multiply_out_scales, made.reg, {side.values.reg}, static_cast<std::size_t>(outer * inner));
  if (scaled) instruction.inputs[1] = side.scales.reg;
  instruction.table = lowering.builder().add_table(
      {static_cast<std::int64_t>(form), outer, inner,
       scaled ? inner / side.scales.type.shape[1] : inner, side.is_right ? 1 : 0});
  return made;
}

}  // namespace

// tt.dot_scaled a [scale s], b [scale t], c. The text does not say to which operand a single scale
// belongs, but the shapes do.
Status lower_dot_scaled(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 3, 5));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  for (const Value& input : inputs)
    if (input.type.shape.size() != 2) return lowering.refuse(operation, "of more dimensions");
  for (const char* packing : {"lhs_k_pack", "rhs_k_pack"})
    if (format_of(operation, packing) == "false")
      return lowering.refuse(operation, "of fp4 that is not packed along the inner dimension");
  Scaled left{.values = inputs[0], .scales = {}, .format = format_of(operation, "lhs")};
  std::size_t next = 1;
  const std::size_t scales = inputs.size() - 3;
  if (scales == 2 || (scales == 1 && left.takes(inputs[1]))) left.scales = inputs[next++];
  Scaled right{.values = inputs[next++],
               .scales = {},
               .format = format_of(operation, "rhs"),
               .is_right = true};
  if (next + 1 < inputs.size()) right.scales = inputs[next++];
  const Value& sum = inputs.back();
  for (const Scaled& side : {left, right}) {
    const Element element = side.values.type.element;
    if (side.is_fp4() ? element != Element::i8 : !is_small_float(element))
      return lowering.refuse(operation,
                             fmt::format("of {} as '{}'", name_of(element), side.format));
    if (side.scales.defined() && !side.takes(side.scales))
      return lowering.malformed(operation, "its scales do not fit");
  }
  if (left.inner() != right.inner() || sum.type.shape[0] != left.outer() ||
      sum.type.shape[1] != right.outer())
    return lowering.malformed(operation, "shapes do not fit");
  if (sum.type.element != Element::f32)
    return lowering.refuse(operation, fmt::format("into {}", name_of(sum.type.element)));
  const Value a = multiplied_out(lowering, left), b = multiplied_out(lowering, right);
  Value result = lowering.make(sum.type);
  const std::int64_t m = left.outer(), n = right.outer(), k = left.inner();
  Instruction& made =
      lowering.builder().emit(dot_handler(Element::f32, Element::f32), result.reg,
                              {a.reg, b.reg, sum.reg}, static_cast<std::size_t>(m * n));
  made.cost = static_cast<std::uint32_t>(std::min<std::int64_t>(m * n * k / 8 + 1, 0xFFFFFFFF));
  made.table =
      lowering.builder().add_table({1, m, n, k, static_cast<std::int64_t>(DotPrecision::ieee)});
  lowering.define(operation, 0, result);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
