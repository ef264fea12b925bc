#include "gym/triton_ir/hints/infer_axis_info.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <unordered_map>

namespace tritonsmith::gym::triton_ir {
namespace {

using Shape = std::vector<std::int64_t>;

struct Inference {
  const Operation& operation;
  std::span<const AxisInfo> operands;
  Shape shape;  // of the result; of a scalar: {1}

  std::size_t rank() const { return shape.size(); }
  AxisInfo unknown() const { return unknown_axes(rank()); }
};
using Rule = AxisInfo (*)(const Inference&);

std::uint64_t bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }

std::int64_t times(std::int64_t a, std::int64_t b) {
  return a > kAnyDivisor / b ? kAnyDivisor : a * b;
}

bool is(const AxisInfo& info, std::int64_t number) { return info.constant == number; }

bool is_contiguous(const AxisInfo& info, const Inference& of, std::size_t d) {
  return info.contiguity[d] == of.shape[d];
}
bool is_constant(const AxisInfo& info, const Inference& of, std::size_t d) {
  return info.constancy[d] == of.shape[d];
}

AxisInfo same(const Inference& of) { return of.operands[0]; }

AxisInfo splat_of(std::int64_t value, const Shape& shape) {
  return {.contiguity = Shape(shape.size(), 1),
          .divisibility = Shape(shape.size(), power_of_two_in(value)),
          .constancy = shape,
          .constant = value};
}

// A binary operation whose operands are both known numbers.
AxisInfo of_numbers(const Inference& of, std::int64_t value) {
  AxisInfo info = splat_of(value, of.shape);
  for (std::size_t d = 0; d < of.rank(); ++d)
    info.constancy[d] = std::max(of.operands[0].constancy[d], of.operands[1].constancy[d]);
  return info;
}

std::optional<std::int64_t> folded(const Inference& of) {
  if (!of.operands[0].constant || !of.operands[1].constant) return std::nullopt;
  const std::int64_t a = *of.operands[0].constant, b = *of.operands[1].constant;
  const std::string& name = of.operation.name;
  if (name == "arith.addi") return static_cast<std::int64_t>(bits(a) + bits(b));
  if (name == "arith.subi") return static_cast<std::int64_t>(bits(a) - bits(b));
  if (name == "arith.muli") return static_cast<std::int64_t>(bits(a) * bits(b));
  if (name == "arith.andi") return a & b;
  if (name == "arith.ori") return a | b;
  if (name == "arith.xori") return a ^ b;
  if (name.starts_with("arith.div") && b > 0) return a / b;
  if (name.starts_with("arith.rem") && b > 0) return a % b;
  if (name == "arith.shli" && b >= 0 && b < 63) return static_cast<std::int64_t>(bits(a) << b);
  if (name.starts_with("arith.shr") && b >= 0 && b < 63) return a >> b;
  return std::nullopt;
}

// Calls rule(left, right, d, info) for each dimension, unless the result is a known number.
template <typename Fill>
AxisInfo binary(const Inference& of, Fill fill) {
  if (const auto value = folded(of)) return of_numbers(of, *value);
  AxisInfo info = of.unknown();
  for (std::size_t d = 0; d < of.rank(); ++d) fill(of.operands[0], of.operands[1], d, info);
  return info;
}

AxisInfo sum(const Inference& of) {
  const bool subtracts = of.operation.name == "arith.subi";
  const bool moves_pointer = of.operation.name == "tt.addptr";
  std::int64_t bytes = 1;
  if (moves_pointer)
    bytes = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(memory_bytes(of.operation.types[0].pointee)));
  return binary(of, [&](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    const std::int64_t counts_left = common_divisor(l.contiguity[d], r.constancy[d]);
    const std::int64_t counts_right = common_divisor(l.constancy[d], r.contiguity[d]);
    info.contiguity[d] = subtracts ? counts_left : std::max(counts_left, counts_right);
    info.divisibility[d] = common_divisor(l.divisibility[d], times(r.divisibility[d], bytes));
    info.constancy[d] = common_divisor(l.constancy[d], r.constancy[d]);
  });
}

AxisInfo product(const Inference& of) {
  return binary(of, [](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    info.contiguity[d] = std::max(is(r, 1) ? l.contiguity[d] : 1, is(l, 1) ? r.contiguity[d] : 1);
    info.constancy[d] = common_divisor(l.constancy[d], r.constancy[d]);
    const std::int64_t left = l.contiguity[d] > 1 && !is(r, 1) ? 1 : l.divisibility[d];
    const std::int64_t right = r.contiguity[d] > 1 && !is(l, 1) ? 1 : r.divisibility[d];
    info.divisibility[d] = times(left, right);
  });
}

AxisInfo quotient(const Inference& of) {
  return binary(of, [&](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    info.contiguity[d] = is(r, 1) ? l.contiguity[d] : 1;
    info.constancy[d] = common_divisor(l.constancy[d], r.constancy[d]);
    if (is_contiguous(l, of, d) && is_constant(r, of, d))
      info.constancy[d] = std::max(
          info.constancy[d],
          common_divisor(l.contiguity[d], common_divisor(l.divisibility[d], r.divisibility[d])));
    if (is(l, 0) || is(r, 1))
      info.divisibility[d] = l.divisibility[d];
    else if (r.constant && *r.constant > 0 && std::has_single_bit(bits(*r.constant)) &&
             l.contiguity[d] == 1)
      info.divisibility[d] = std::max<std::int64_t>(1, l.divisibility[d] / *r.constant);
  });
}

AxisInfo remainder(const Inference& of) {
  return binary(of, [&](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    const std::int64_t divisor = common_divisor(l.divisibility[d], r.divisibility[d]);
    if (is_contiguous(l, of, d) && is_constant(r, of, d))
      info.contiguity[d] = common_divisor(l.contiguity[d], divisor);
    if (r.constancy[d] > 1) info.divisibility[d] = divisor;
    info.constancy[d] = is(r, 1) ? of.shape[d] : common_divisor(l.constancy[d], r.constancy[d]);
  });
}

AxisInfo logical(const Inference& of) {
  return binary(of, [](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    info.constancy[d] = common_divisor(l.constancy[d], r.constancy[d]);
  });
}

AxisInfo shift(const Inference& of) {
  const bool left = of.operation.name == "arith.shli";
  const std::optional<std::int64_t> by = of.operands[1].constant;
  return binary(of, [&](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    info.constancy[d] = common_divisor(l.constancy[d], r.constancy[d]);
    info.contiguity[d] = by == 0 ? l.contiguity[d] : 1;
    const std::int64_t divisor = l.contiguity[d] > 1 && by.value_or(0) != 0 ? 1 : l.divisibility[d];
    if (by && *by >= 0 && *by < 62) {
      const std::int64_t power = std::int64_t{1} << *by;
      info.divisibility[d] =
          left ? times(divisor, power) : std::max<std::int64_t>(1, divisor / power);
    } else if (left && !by) {
      info.divisibility[d] = divisor;
    }
  });
}

AxisInfo extreme(const Inference& of) {
  return binary(of, [](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    if (l.constant && r.constant) return;
    info.contiguity[d] = common_divisor(l.contiguity[d], r.contiguity[d]);
    info.divisibility[d] = joint_divisibility(l, r, d);
    info.constancy[d] = common_divisor(l.constancy[d], r.constancy[d]);
  });
}

AxisInfo comparison(const Inference& of) {
  const std::string_view how =
      of.operation.keywords.empty() ? "" : std::string_view(of.operation.keywords[0]);
  const bool right_counts = how.ends_with("gt") || how.ends_with("le");
  const bool left_counts = how.ends_with("lt") || how.ends_with("ge");
  return binary(of, [&](const AxisInfo& l, const AxisInfo& r, std::size_t d, AxisInfo& info) {
    const std::int64_t divisor = common_divisor(l.divisibility[d], r.divisibility[d]);
    info.constancy[d] =
        l.constant && r.constant ? l.constancy[d] : common_divisor(l.constancy[d], r.constancy[d]);
    if (l.constant && r.constant) return;
    if (right_counts && is_constant(l, of, d))
      info.constancy[d] = std::max(info.constancy[d], common_divisor(r.contiguity[d], divisor));
    else if (left_counts && is_constant(r, of, d))
      info.constancy[d] = std::max(info.constancy[d], common_divisor(l.contiguity[d], divisor));
  });
}

AxisInfo choice(const Inference& of) {
  const AxisInfo &condition = of.operands[0], &l = of.operands[1], &r = of.operands[2];
  if (condition.constant) return *condition.constant == 0 ? r : l;
  // The type of a condition that is one truth value is not written.
  const bool is_one = of.operation.types.size() < 2 || condition.rank() != of.rank();
  AxisInfo info = join(l, r);
  if (is_one) return info;
  for (std::size_t d = 0; d < of.rank(); ++d) {
    info.contiguity[d] = common_divisor(info.contiguity[d], condition.constancy[d]);
    info.constancy[d] = common_divisor(info.constancy[d], condition.constancy[d]);
  }
  return info;
}

AxisInfo range(const Inference& of) {
  const std::int64_t start = of.operation.integer_attribute("start").value_or(0);
  const std::int64_t end = of.operation.integer_attribute("end").value_or(start + 1);
  return {.contiguity = {std::max<std::int64_t>(end - start, 1)},
          .divisibility = {power_of_two_in(start)},
          .constancy = {1},
          .constant = std::nullopt};
}

AxisInfo constant_number(const Inference& of) {
  const std::string& text = of.operation.literal;
  if (of.operation.result_types.empty() || !is_integer(of.operation.result_types[0].element))
    return of.unknown();
  std::int64_t value = text == "true" ? 1 : 0;
  if (text != "true" && text != "false") {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) return of.unknown();
  }
  return splat_of(value, of.shape);
}

AxisInfo splat(const Inference& of) {
  AxisInfo info = of.unknown();
  info.divisibility.assign(of.rank(), of.operands[0].divisibility[0]);
  info.constancy = of.shape;
  info.constant = of.operands[0].constant;
  return info;
}

AxisInfo one_more_dimension(const Inference& of) {
  AxisInfo info = of.operands[0];
  const std::int64_t axis = of.operation.integer_attribute("axis").value_or(-1);
  if (axis < 0 || axis > std::ssize(info.contiguity) || info.rank() + 1 != of.rank())
    return of.unknown();
  std::int64_t divisor = 0;  // everything divides it
  if (info.constant)
    divisor = power_of_two_in(*info.constant);
  else
    for (std::size_t d = 0; d < info.rank(); ++d)
      divisor = common_divisor(divisor, info.contiguity[d] > 1 ? 1 : info.divisibility[d]);
  info.contiguity.insert(info.contiguity.begin() + axis, 1);
  info.divisibility.insert(info.divisibility.begin() + axis, divisor);
  info.constancy.insert(info.constancy.begin() + axis, 1);
  return info;
}

AxisInfo broadcast(const Inference& of) {
  AxisInfo info = of.operands[0];
  const Shape& from = of.operation.types[0].shape;
  if (from.size() != of.rank() || info.rank() != of.rank()) return of.unknown();
  for (std::size_t d = 0; d < of.rank(); ++d)
    if (from[d] == 1) {
      info.contiguity[d] = 1;
      info.constancy[d] = of.shape[d];
    }
  return info;
}

// Elements from one address are equal.
AxisInfo loaded(const Inference& of) {
  AxisInfo info = of.unknown();
  for (std::size_t d = 0; d < of.rank(); ++d)
    info.constancy[d] = common_divisor(of.operands[0].constancy[d],
                                       of.operands.size() > 1 ? of.operands[1].constancy[d] : 0);
  return info;
}

struct Row {
  Rule rule = nullptr;
  std::size_t operands = 0;
  bool same_rank = true;  // the operands must have the result's
};

// NOLINTNEXTLINE(readability-function-size): a table
const Row* find_rule(std::string_view name) {
  static const std::unordered_map<std::string_view, Row> table = {
      {"arith.extsi", {same, 1}},       {"arith.extui", {same, 1}},
      {"arith.trunci", {same, 1}},      {"tt.bitcast", {same, 1}},
      {"tt.make_range", {range, 0}},    {"arith.constant", {constant_number, 0}},
      {"tt.addptr", {sum, 2}},          {"arith.addi", {sum, 2}},
      {"arith.subi", {sum, 2}},         {"arith.muli", {product, 2}},
      {"arith.divsi", {quotient, 2}},   {"arith.divui", {quotient, 2}},
      {"arith.remsi", {remainder, 2}},  {"arith.remui", {remainder, 2}},
      {"arith.andi", {logical, 2}},     {"arith.ori", {logical, 2}},
      {"arith.xori", {logical, 2}},     {"arith.shli", {shift, 2}},
      {"arith.shrsi", {shift, 2}},      {"arith.shrui", {shift, 2}},
      {"arith.maxsi", {extreme, 2}},    {"arith.maxui", {extreme, 2}},
      {"arith.minsi", {extreme, 2}},    {"arith.minui", {extreme, 2}},
      {"arith.cmpi", {comparison, 2}},  {"arith.select", {choice, 3, false}},
      {"tt.splat", {splat, 1, false}},  {"tt.expand_dims", {one_more_dimension, 1, false}},
      {"tt.broadcast", {broadcast, 1}}, {"tt.load", {loaded, 1}},
  };
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace

const ValueType* shape_type_of(const Operation& operation) {
  if (!operation.result_types.empty()) return &operation.result_types[0];
  return operation.types.empty() ? nullptr : &operation.types.back();
}

AxisInfo infer_axis_info(const Operation& operation, std::span<const AxisInfo> operands) {
  const ValueType* type = shape_type_of(operation);
  const Shape shape =
      type != nullptr && type->is_tensor && !type->shape.empty() ? type->shape : Shape{1};
  const Inference of{.operation = operation, .operands = operands, .shape = shape};
  const Row* row = find_rule(operation.name);
  // Only a load may have more operands than its row says: a mask and another value.
  const bool fits =
      row != nullptr &&
      (operation.name == "tt.load" ? operands.size() >= 1 : operands.size() == row->operands);
  if (!fits || type == nullptr) return of.unknown();
  for (const AxisInfo& operand : operands)
    if (operand.rank() == 0 || (row->same_rank && operand.rank() != of.rank())) return of.unknown();
  const bool needs_types = operation.name == "tt.addptr" || operation.name == "tt.broadcast" ||
                           operation.name == "arith.select";
  if (needs_types && operation.types.empty()) return of.unknown();
  if (operation.name == "arith.select" &&
      (operands[1].rank() != of.rank() || operands[2].rank() != of.rank()))
    return of.unknown();
  return row->rule(of);
}

}  // namespace tritonsmith::gym::triton_ir
