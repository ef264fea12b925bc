#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::string_view kIntegerPredicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                                   "sge", "ult", "ule", "ugt", "uge"};
constexpr std::string_view kFloatPredicates[] = {"false", "oeq", "ogt", "oge", "olt", "ole",
                                                 "one",   "ord", "ueq", "ugt", "uge", "ult",
                                                 "ule",   "une", "uno", "true"};

// Returns the element type in registers, which is fp32 for small floats.
Element machine_element(Element element) {
  return is_small_float(element) ? Element::f32 : element;
}

std::size_t bits_of(Element element) {
  return element == Element::i1 ? 1 : 8 * memory_bytes(element);
}

}  // namespace

Status lower_elementwise(Lowering& lowering, const Operation& operation,
                         const ElementwiseOperation& row) {
  TRY(lowering.expect_operands(operation, row.operands, row.operands));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  for (const Value& input : inputs)
    if (input.type != inputs[0].type)
      return lowering.malformed(
          operation, fmt::format("{} and {}", to_string(inputs[0].type), to_string(input.type)));
  Handler handler = row.handlers.pick(inputs[0].type.element);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("not on {}", name_of(inputs[0].type.element)));
  Value result = lowering.make(inputs[0].type);
  Instruction& made = lowering.builder().emit(handler, result.reg, {},
                                              static_cast<std::size_t>(result.type.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].reg;
  lowering.round(result);
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_compare(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 2));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  if (inputs[0].type != inputs[1].type)
    return lowering.malformed(operation, "its operands' types differ");
  const bool integers = operation.name == "arith.cmpi";
  std::string_view predicate =
      operation.keywords.empty() ? "" : std::string_view(operation.keywords[0]);
  if (auto number = operation.integer_attribute("predicate")) {  // the generic form
    auto known =
        integers ? std::span<const std::string_view>(kIntegerPredicates) : kFloatPredicates;
    if (*number < 0 || *number >= std::ssize(known))
      return lowering.malformed(operation, "no such predicate");
    predicate = known[static_cast<std::size_t>(*number)];
  }
  const Element element = inputs[0].type.element;
  if (integers == is_float(element)) return lowering.malformed(operation, "a wrong type");
  Handler handler = integers ? find_integer_comparison(predicate, element)
                             : find_float_comparison(predicate, element);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("'{}' of {}", predicate, name_of(element)));
  Value result = lowering.make(inputs[0].type.with_element(Element::i1));
  lowering.builder().emit(handler, result.reg, {inputs[0].reg, inputs[1].reg},
                          static_cast<std::size_t>(result.type.count()));
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_select(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 3, 3));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  Value condition = inputs[0];
  if (condition.type.element != Element::i1 || inputs[1].type != inputs[2].type)
    return lowering.malformed(operation, "wrong types");
  if (!condition.type.is_tensor && inputs[1].type.is_tensor)
    condition = lowering.spread(condition, inputs[1].type.shape);
  if (condition.type.shape != inputs[1].type.shape)
    return lowering.malformed(operation, "shapes differ");
  if (inputs[1].type.element == Element::descriptor)
    return lowering.refuse(operation, "of descriptors");
  Value result = lowering.make(inputs[1].type);
  lowering.builder().emit(select_handler(register_bytes(result.type.element)), result.reg,
                          {condition.reg, inputs[1].reg, inputs[2].reg},
                          static_cast<std::size_t>(result.type.count()));
  lowering.define(operation, 0, result);
  return ok();
}

namespace {

struct Conversion {
  Value from;
  Element to = Element::none;
  bool toward_zero = false;  // small floats are rounded to the nearest even otherwise
};

Status convert(Lowering& lowering, const Operation& operation, const Conversion& wanted) {
  const auto& [from, to, toward_zero] = wanted;
  const Element source = from.type.element;
  Value result = from;
  result.type = from.type.with_element(to);
  auto count = static_cast<std::size_t>(from.type.count());
  if (is_float(source) && is_float(to)) {
    if (machine_element(source) == machine_element(to)) {
      // Both sides are fp32 registers, so this is a view unless bits are lost.
      if (is_small_float(to) && source != to) {
        result = lowering.make(result.type);
        lowering.builder().emit(copy_handler(4), result.reg, {from.reg}, count);
        lowering.round(result, toward_zero);
      }
    } else if (to == Element::f64) {
      result = lowering.make(result.type);
      lowering.builder().emit(find_conversion("arith.extf", Element::f32, to), result.reg,
                              {from.reg}, count);
    } else {
      result = lowering.make(result.type);
      Handler handler =
          to == Element::f32 ? find_conversion("arith.truncf", source, to) : round_to_odd_handler();
      lowering.builder().emit(handler, result.reg, {from.reg}, count);
      lowering.round(result, toward_zero);
    }
    lowering.define(operation, 0, result);
    return ok();
  }
  Handler handler = find_conversion(operation.name, machine_element(source), machine_element(to));
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("from {} to {}", name_of(source), name_of(to)));
  result = lowering.make(result.type);
  lowering.builder().emit(handler, result.reg, {from.reg}, count);
  lowering.round(result);
  lowering.define(operation, 0, result);
  return ok();
}

}  // namespace

Status lower_convert(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  if (operation.result_types.size() != 1)
    return lowering.malformed(operation, "its result's type is missing");
  const Element to = operation.result_types[0].element;
  const bool from_float = is_float(from.type.element), to_float = is_float(to);
  const bool float_name = operation.name == "arith.extf" || operation.name == "arith.truncf";
  if (float_name != (from_float && to_float)) return lowering.malformed(operation, "wrong types");
  return convert(lowering, operation, {.from = from, .to = to});
}

Status lower_fp_to_fp(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  if (operation.result_types.size() != 1)
    return lowering.malformed(operation, "its result's type is missing");
  const Element to = operation.result_types[0].element;
  if (!is_float(from.type.element) || !is_float(to))
    return lowering.malformed(operation, "wrong types");
  auto rounding = operation.attributes.find("rounding");
  const bool toward_zero =
      rounding != operation.attributes.end() && rounding->second.find("rtz") != std::string::npos;
  return convert(lowering, operation, {.from = from, .to = to, .toward_zero = toward_zero});
}

// Reads the same bits as another type. Integers of the same width and pointers become views, and
// small floats are packed.
Status lower_bitcast(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  if (operation.result_types.size() != 1)
    return lowering.malformed(operation, "its result's type is missing");
  const ValueType& written = operation.result_types[0];
  ValueType type = from.type.with_element(written.element);
  type.pointee = written.pointee;
  const Element source = from.type.element, to = type.element;
  if (source == Element::descriptor || to == Element::descriptor || bits_of(source) != bits_of(to))
    return lowering.malformed(operation,
                              fmt::format("from {} to {}", name_of(source), name_of(to)));
  if (to == Element::pointer && source != Element::pointer)
    return lowering.refuse(operation, "an integer becomes a pointer");
  auto count = static_cast<std::size_t>(type.count());
  Value bits{type, from.reg};
  if (is_small_float(source) && source != to) {
    bits = lowering.make(
        tensor_of(memory_bytes(source) == 2 ? Element::i16 : Element::i8, {type.count()}));
    lowering.builder().emit(pack_handler(source), bits.reg, {from.reg}, count);
  }
  Value result{type, bits.reg};
  if (is_small_float(to) && source != to) {
    result = lowering.make(type);
    lowering.builder().emit(unpack_handler(to), result.reg, {bits.reg}, count);
  }
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_clamp(Lowering& lowering, const Operation& operation) {
  auto propagate = operation.attributes.find("propagateNan");
  const bool all = propagate != operation.attributes.end() && propagate->second == "all";
  return lower_elementwise(lowering, operation,
                           *find_elementwise(all ? "tt.clampf all" : "tt.clampf none"));
}

Status lower_libdevice(Lowering& lowering, const Operation& operation) {
  auto named = operation.attributes.find("symbol");
  std::string symbol = named != operation.attributes.end() ? named->second : "";
  if (symbol.size() >= 2 && symbol.front() == '"') symbol = symbol.substr(1, symbol.size() - 2);
  const LibdeviceFunction* function = find_libdevice(symbol);
  if (function == nullptr)
    return lowering.refuse(operation, fmt::format("the evaluator has no '{}'", symbol));
  TRY(lowering.expect_operands(operation, function->operands.size(), function->operands.size()));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].type.element != function->operands[i] ||
        inputs[i].type.shape != inputs[0].type.shape)
      return lowering.malformed(
          operation, fmt::format("{} does not take {}", symbol, to_string(inputs[i].type)));
  Value result = lowering.make(inputs[0].type.with_element(function->result));
  Instruction& made = lowering.builder().emit(function->handler, result.reg, {},
                                              static_cast<std::size_t>(result.type.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].reg;
  lowering.define(operation, 0, result);
  return ok();
}

// Gives the low and high halves of a product as two results.
Status lower_wide_multiply(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 2));
  if (operation.name == "arith.mulsi_extended")
    return lowering.refuse(operation, "the evaluator has no such operation");
  const HandlerRow* rows[] = {&find_elementwise("arith.muli")->handlers,
                              &find_elementwise("tt.mulhiui")->handlers};
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  if (inputs[0].type != inputs[1].type)
    return lowering.malformed(operation, "its operands' types differ");
  for (std::size_t half = 0; half < 2; ++half) {
    Handler handler = rows[half]->pick(inputs[0].type.element);
    if (!is_integer(inputs[0].type.element) || handler == nullptr)
      return lowering.malformed(operation, "a wrong type");
    Value result = lowering.make(inputs[0].type);
    lowering.builder().emit(handler, result.reg, {inputs[0].reg, inputs[1].reg},
                            static_cast<std::size_t>(result.type.count()));
    lowering.define(operation, half, result);
  }
  return ok();
}

// Raises a float to the power of an i32 by pow.
Status lower_power(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 2));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  const Element element = inputs[0].type.element;
  if (!is_float(element) || inputs[1].type != inputs[0].type.with_element(Element::i32))
    return lowering.malformed(operation, "wrong types");
  auto count = static_cast<std::size_t>(inputs[0].type.count());
  Value exponent = lowering.make(inputs[0].type), result = lowering.make(inputs[0].type);
  lowering.builder().emit(find_conversion("arith.sitofp", Element::i32, machine_element(element)),
                          exponent.reg, {inputs[1].reg}, count);
  lowering.builder().emit(find_elementwise("math.powf")->handlers.pick(element), result.reg,
                          {inputs[0].reg, exponent.reg}, count);
  lowering.round(result);
  lowering.define(operation, 0, result);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
