#include <algorithm>
#include <charconv>
#include <numeric>

#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using Shape = std::vector<std::int64_t>;

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Parses a list such as "array<i32: 1, 0>".
Shape parse_array(std::string_view text) {
  Shape numbers;
  std::size_t start = text.find(':');
  while (start != std::string_view::npos && start < text.size()) {
    text.remove_prefix(start + 1);
    while (text.starts_with(" ")) text.remove_prefix(1);
    std::int64_t number = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{}) break;
    numbers.push_back(number);
    start = text.find(',');
  }
  return numbers;
}

void strided_copy(Lowering& lowering, const Value& from, const Value& to, const Shape& strides) {
  // Neighbouring dimensions with one common step are merged.
  Shape shape, steps;
  for (std::size_t i = 0; i < to.type.shape.size(); ++i) {
    const std::int64_t size = to.type.shape[i];
    if (size == 1) continue;
    if (!shape.empty() && steps.back() == strides[i] * size) {
      shape.back() *= size;
      steps.back() = strides[i];
    } else {
      shape.push_back(size);
      steps.push_back(strides[i]);
    }
  }
  if (shape.empty()) {
    shape.push_back(1);
    steps.push_back(0);
  }
  Shape table = {std::ssize(shape)};
  table.insert(table.end(), shape.begin(), shape.end());
  table.insert(table.end(), steps.begin(), steps.end());
  lowering.builder()
      .emit(strided_copy_handler(register_bytes(to.type.element)), to.reg, {from.reg},
            static_cast<std::size_t>(to.type.count()))
      .table = lowering.builder().add_table(std::move(table));
}

}  // namespace

// All shape operations have one result whose type is written out.
#define RESULT_TYPE(type)                                                 \
  if (operation.result_types.size() != 1)                                 \
    return lowering.malformed(operation, "its result's type is missing"); \
  const ValueType& type = operation.result_types[0]

Status lower_splat(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  RESULT_TYPE(type);
  if (from.type.is_tensor || !type.is_tensor) return lowering.malformed(operation, "wrong types");
  lowering.define(operation, 0, lowering.spread(from, type.shape));
  return ok();
}

// The result has the same elements in another shape, so it needs no instruction.
Status lower_view(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  RESULT_TYPE(type);
  // A descriptor has its block's shape but is one element.
  if (type.count() != from.type.count() || type.element == Element::descriptor)
    return lowering.malformed(operation, "the number of elements changes");
  ValueType result = from.type;
  result.is_tensor = type.is_tensor;
  result.shape = type.shape;
  lowering.define(operation, 0, Value{result, from.reg});
  return ok();
}

// The result's type is not written out: it is the one element's.
Status lower_unsplat(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  if (!from.type.is_tensor || from.type.count() != 1)
    return lowering.malformed(operation, "its operand is not a block of one element");
  ValueType result = from.type;
  result.is_tensor = false;
  result.shape = {};
  lowering.define(operation, 0, Value{result, from.reg});
  return ok();
}

Status lower_broadcast(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  RESULT_TYPE(type);
  if (!from.type.is_tensor || type.shape.size() != from.type.shape.size())
    return lowering.malformed(operation, "the rank changes");
  Shape strides = row_major_strides(from.type.shape);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (from.type.shape[i] == 1)
      strides[i] = 0;
    else if (from.type.shape[i] != type.shape[i])
      return lowering.malformed(operation, "shapes do not fit");
  }
  ValueType wide = from.type;
  wide.shape = type.shape;
  Value result = lowering.make(wide);
  strided_copy(lowering, from, result, strides);
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_transpose(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  auto written = operation.attributes.find("order");
  Shape order = written != operation.attributes.end() ? parse_array(written->second) : Shape{};
  Shape sorted = order, identity(order.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(identity.begin(), identity.end(), 0);
  if (!from.type.is_tensor || order.size() != from.type.shape.size() || sorted != identity)
    return lowering.malformed(operation, "its order does not fit its operand");
  Shape strides = row_major_strides(from.type.shape), moved_strides;
  ValueType type = from.type;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto source = static_cast<std::size_t>(order[i]);
    type.shape[i] = from.type.shape[source];
    moved_strides.push_back(strides[source]);
  }
  Value result = lowering.make(type);
  strided_copy(lowering, from, result, moved_strides);
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_join(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 2));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  if (inputs[0].type != inputs[1].type || inputs[0].type.count() > kMaxElements / 2)
    return lowering.malformed(operation, "its operands do not fit");
  ValueType type = inputs[0].type;
  type.is_tensor = true;
  type.shape.push_back(2);
  if (type.shape.size() > kMaxRank) return lowering.malformed(operation, "too many dimensions");
  Value result = lowering.make(type);
  lowering.builder().emit(interleave_handler(register_bytes(type.element)), result.reg,
                          {inputs[0].reg, inputs[1].reg},
                          static_cast<std::size_t>(inputs[0].type.count()));
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_split(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 1));
  TRY_ASSIGN(Value from, lowering.operand(operation, 0));
  if (!from.type.is_tensor || from.type.shape.empty() || from.type.shape.back() != 2)
    return lowering.malformed(operation, "its operand's last dimension is not 2");
  ValueType type = from.type;
  type.shape.pop_back();
  type.is_tensor = !type.shape.empty();
  for (std::size_t which = 0; which < 2; ++which) {
    Value result = lowering.make(type);
    lowering.builder()
        .emit(take_half_handler(register_bytes(type.element)), result.reg, {from.reg},
              static_cast<std::size_t>(type.count()))
        .immediate = 2 + static_cast<std::int64_t>(which);
    lowering.define(operation, which, result);
  }
  return ok();
}

Status lower_cat(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 2));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  RESULT_TYPE(type);
  const bool same_element = inputs[0].type.with_element(Element::none).element == Element::none &&
                            inputs[0].type.element == inputs[1].type.element;
  if (!same_element || inputs[0].type.count() + inputs[1].type.count() != type.count())
    return lowering.malformed(operation, "its operands do not fit");
  ValueType whole = inputs[0].type;
  whole.is_tensor = true;
  whole.shape = type.shape;
  Value result = lowering.make(whole);
  std::int64_t at = 0;
  for (const Value& input : inputs) {
    lowering.builder()
        .emit(copy_to_handler(register_bytes(whole.element)), result.reg, {input.reg},
              static_cast<std::size_t>(input.type.count()))
        .immediate = at;
    at += input.type.count();
  }
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_gather(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 2));
  TRY_ASSIGN(Value source, lowering.operand(operation, 0));
  TRY_ASSIGN(Value indices, lowering.operand(operation, 1));
  const auto axis = static_cast<std::size_t>(operation.integer_attribute("axis").value_or(-1));
  const Shape &from = source.type.shape, &to = indices.type.shape;
  if (from.size() != to.size() || axis >= from.size())
    return lowering.malformed(operation, "its axis does not fit");
  if (indices.type.element != Element::i32 && indices.type.element != Element::i64)
    return lowering.refuse(operation, fmt::format("indices of {}", name_of(indices.type.element)));
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i != axis && from[i] != to[i]) return lowering.malformed(operation, "shapes do not fit");
    if (i < axis) outer *= from[i];
    if (i > axis) inner *= from[i];
  }
  ValueType type = source.type;
  type.shape = to;
  Value result = lowering.make(type);
  lowering.builder()
      .emit(gather_handler(register_bytes(type.element), indices.type.element), result.reg,
            {source.reg, indices.reg}, static_cast<std::size_t>(type.count()))
      .table = lowering.builder().add_table({outer, from[axis], inner, to[axis]});
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_histogram(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 2));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  RESULT_TYPE(type);
  if (type.element != Element::i32 ||
      (inputs.size() > 1 && inputs[1].type != inputs[0].type.with_element(Element::i1)))
    return lowering.malformed(operation, "wrong types");
  Handler handler = histogram_handler(inputs[0].type.element);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("of {}", name_of(inputs[0].type.element)));
  Value result = lowering.make(type);
  Instruction& made = lowering.builder().emit(
      handler, result.reg, {inputs[0].reg, inputs.size() > 1 ? inputs[1].reg : kNone},
      static_cast<std::size_t>(inputs[0].type.count()));
  made.immediate = type.count();
  lowering.define(operation, 0, result);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
