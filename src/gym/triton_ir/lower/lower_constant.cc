// Constants are filled once for each evaluation, into registers that keep their offset. Equal
// constants share a register.
#include <charconv>
#include <cmath>
#include <cstring>

#include "gym/triton_ir/execute/number_formats.h"
#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// Returns the register's bits for a literal such as "4", "-1", "true", "1.0e+00" or "0xFF800000",
// which gives the bits of the type itself.
std::optional<std::int64_t> bits_of_literal(std::string_view text, Element element) {
  if (text == "true") return element == Element::i1 ? 1 : -1;
  if (text == "false") return 0;
  const bool negative = text.starts_with("-");
  if (text.starts_with("0x")) {
    std::uint64_t bits = 0;
    auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (element == Element::f16)
      bits = float_to_bits(f16_value(static_cast<std::uint16_t>(bits)));
    else if (element == Element::bf16)
      bits = float_to_bits(bf16_value(static_cast<std::uint16_t>(bits)));
    else if (is_small_float(element))
      bits = float_to_bits(fp8_values(element)[bits & 0xFF]);
    return static_cast<std::int64_t>(bits);
  }
  if (is_integer(element)) {
    std::string_view digits = negative ? text.substr(1) : text;
    std::uint64_t magnitude = 0;
    auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
    if (problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    auto bits = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
    return element == Element::i1 ? bits & 1 : bits;
  }
  double number = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (element == Element::f64) return std::bit_cast<std::int64_t>(number);
  float value = static_cast<float>(number);
  if (is_small_float(element)) value = round_to(element, value, Rounding::nearest_even);
  return static_cast<std::int64_t>(float_to_bits(value));
}

// Returns the literals of "[1, 2, 3]" or "[[1], [2]]" in order.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    std::size_t start = text.find_first_not_of("[], \n\t");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    std::size_t end = std::min(text.find_first_of("[], \n\t"), text.size());
    items.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return items;
}

bool is_i32(std::int64_t number) { return number == static_cast<std::int32_t>(number); }

}  // namespace

Value constant(Lowering& lowering, const ValueType& type, std::int64_t bits) {
  std::string key = fmt::format("{} {}", to_string(type), bits);
  return lowering.filled_once(key, [&] {
    Value made = lowering.make_pinned(type);
    lowering.builder()
        .emit_setup(fill_handler(register_bytes(type.element)), made.reg,
                    static_cast<std::size_t>(type.count()))
        .immediate = bits;
    return made;
  });
}

Status lower_constant(Lowering& lowering, const Operation& operation) {
  if (operation.result_types.size() != 1)
    return lowering.malformed(operation, "its type is missing");
  const ValueType& type = operation.result_types[0];
  if (!is_integer(type.element) && !is_float(type.element))
    return lowering.malformed(operation, "a wrong type");
  if (!operation.literal.starts_with("[")) {
    auto bits = bits_of_literal(operation.literal, type.element);
    if (!bits)
      return lowering.malformed(
          operation,
          fmt::format("'{}' is no {}", operation.literal.substr(0, 40), name_of(type.element)));
    lowering.define(operation, 0, constant(lowering, type, *bits));
    return ok();
  }
  std::vector<std::string_view> items = split_list(operation.literal);
  if (std::ssize(items) != type.count())
    return lowering.malformed(operation, "a wrong number of elements");
  Value result = lowering.make(type);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto bits = bits_of_literal(items[i], type.element);
    if (!bits) return lowering.malformed(operation, "an element is no number");
    Value element = constant(lowering, scalar_of(type.element), *bits);
    lowering.builder()
        .emit(copy_to_handler(register_bytes(type.element)), result.reg, {element.reg}, 1)
        .immediate = static_cast<std::int64_t>(i);
  }
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_range(Lowering& lowering, const Operation& operation) {
  auto start = operation.integer_attribute("start"), end = operation.integer_attribute("end");
  const std::vector<ValueType>& types =
      operation.result_types.empty() ? operation.types : operation.result_types;
  if (!start || !end || types.size() != 1 || types[0].element != Element::i32 || !is_i32(*start) ||
      !is_i32(*end) || *end - *start != types[0].count() || types[0].shape.size() != 1)
    return lowering.malformed(operation, "its bounds do not fit its type");
  std::string key = fmt::format("range {} {}", *start, *end);
  lowering.define(operation, 0, lowering.filled_once(key, [&] {
    Value made = lowering.make_pinned(types[0]);
    lowering.builder()
        .emit_setup(range_handler(), made.reg, static_cast<std::size_t>(types[0].count()))
        .immediate = *start;
    return made;
  }));
  return ok();
}

// A poison value must not be used. Here it is zero.
Status lower_poison(Lowering& lowering, const Operation& operation) {
  const std::vector<ValueType>& types =
      operation.result_types.empty() ? operation.types : operation.result_types;
  if (types.size() != 1 || types[0].element == Element::descriptor)
    return lowering.refuse(operation, "of this type");
  lowering.define(operation, 0, constant(lowering, types[0], 0));
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
