// Reductions, scans, map_elementwise, and dot. A combine function of one known operation has a
// handler of its own. Any other is lowered over whole tensors. A reduction then becomes a tree,
// which combines neighbours in order and halves their number. A scan doubles the distance each
// time. Both need an axis whose size is a power of two, as Triton does.
#include <bit>

#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// Returns the only operation's name in a combine function, or an empty string for others.
std::string_view single_operation(const Operation& operation) {
  if (operation.operands.size() != 1 || operation.regions.size() != 1) return {};
  const std::vector<Block>& blocks = operation.regions[0].blocks;
  if (blocks.size() != 1 || blocks[0].operations.size() != 2 || blocks[0].arguments.size() != 2)
    return {};
  const Operation &first = blocks[0].operations[0], &last = blocks[0].operations[1];
  const bool in_order = first.operands == std::vector<ValueId>{blocks[0].arguments[0].value,
                                                               blocks[0].arguments[1].value};
  return in_order && !first.results.empty() && last.operands == first.results
             ? std::string_view(first.name)
             : std::string_view();
}

struct Axis {
  std::int64_t outer = 1, size = 1, inner = 1;
};

Result<Axis> combine_axis(Lowering& lowering, const Operation& operation,
                          const std::vector<Value>& inputs) {
  const auto axis = static_cast<std::size_t>(operation.integer_attribute("axis").value_or(-1));
  if (inputs.empty()) return lowering.malformed(operation, "it has no operands");
  const std::vector<std::int64_t>& shape = inputs[0].type.shape;
  if (axis >= shape.size()) return lowering.malformed(operation, "its axis does not fit");
  for (const Value& input : inputs)
    if (input.type.shape != shape)
      return lowering.malformed(operation, "its operands' shapes differ");
  Axis made;
  for (std::size_t i = 0; i < shape.size(); ++i)
    (i < axis ? made.outer : i == axis ? made.size : made.inner) *= shape[i];
  if (!std::has_single_bit(static_cast<std::uint64_t>(made.size)))
    return lowering.malformed(operation, "its axis is no power of two");
  return made;
}

// Applies the combine function to tensors once and returns its results.
Result<std::vector<Value>> combine(Lowering& lowering, const Operation& operation,
                                   const std::vector<Value>& arguments) {
  if (operation.regions.size() != 1 || operation.regions[0].blocks.size() != 1)
    return lowering.malformed(operation, "a combine function of several blocks");
  const Block& block = operation.regions[0].blocks[0];
  if (block.arguments.size() != arguments.size())
    return lowering.malformed(operation, "its combine function does not fit");
  const std::int64_t lanes = arguments[0].type.count();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (block.arguments[i].type != scalar_of(arguments[i].type.element))
      return lowering.malformed(operation, "its combine function does not fit");
    ValueType flat = tensor_of(arguments[i].type.element, {lanes});
    lowering.define(block.arguments[i].value, Value{flat, arguments[i].reg});
  }
  const std::int64_t outer = lowering.exchange_lanes(lanes);
  if (outer > 0) return lowering.malformed(operation, "a combine function within another");
  const std::string terminator = operation.name + ".return";
  TRY_ASSIGN(const Operation* last,
             lower_body(lowering, operation, operation.regions[0], terminator));
  if (last == nullptr) return lowering.malformed(operation, "its combine function returns nothing");
  TRY_ASSIGN(std::vector<Value> results, lowering.operands(*last, 0));
  lowering.exchange_lanes(outer);
  return results;
}

}  // namespace

Status lower_reduce(Lowering& lowering, const Operation& operation) {
  TRY_ASSIGN(std::vector<Value> current, lowering.operands(operation, 0));
  TRY_ASSIGN(Axis axis, combine_axis(lowering, operation, current));
  ValueType shape = current[0].type;
  shape.shape.erase(shape.shape.begin() + *operation.integer_attribute("axis"));
  shape.is_tensor = !shape.shape.empty();
  auto result_type = [&](const Value& input) {
    return ValueType{input.type.element, input.type.pointee, shape.shape, shape.is_tensor};
  };
  std::string_view single = single_operation(operation);
  if (Handler handler = reduction_handler(single, current[0].type.element);
      !single.empty() && handler != nullptr) {
    Value result = lowering.make(result_type(current[0]));
    lowering.builder()
        .emit(handler, result.reg, {current[0].reg},
              static_cast<std::size_t>(current[0].type.count()))
        .table = lowering.builder().add_table(
        {axis.outer, axis.size, axis.inner, static_cast<std::int64_t>(current[0].type.element), 0});
    lowering.define(operation, 0, result);
    return ok();
  }
  while (axis.size > 1) {
    axis.size /= 2;
    const std::int64_t count = axis.outer * axis.size * axis.inner;
    std::vector<Value> halves;
    for (std::int64_t which = 0; which < 2; ++which)
      for (const Value& input : current) {
        Value half = lowering.make(tensor_of(input.type.element, {count}));
        half.type.pointee = input.type.pointee;
        lowering.builder()
            .emit(take_half_handler(register_bytes(half.type.element)), half.reg, {input.reg},
                  static_cast<std::size_t>(count))
            .immediate = 2 * axis.inner + which;
        halves.push_back(half);
      }
    TRY_ASSIGN(std::vector<Value> combined, combine(lowering, operation, halves));
    if (combined.size() != current.size())
      return lowering.malformed(operation, "its combine function does not fit");
    for (std::size_t i = 0; i < combined.size(); ++i)
      if (combined[i].type.element != current[i].type.element || combined[i].type.count() != count)
        return lowering.malformed(operation, "its combine function does not fit");
    current = combined;
  }
  for (std::size_t i = 0; i < current.size(); ++i)
    lowering.define(operation, i, Value{result_type(current[i]), current[i].reg});
  return ok();
}

Status lower_scan(Lowering& lowering, const Operation& operation) {
  TRY_ASSIGN(std::vector<Value> current, lowering.operands(operation, 0));
  TRY_ASSIGN(Axis axis, combine_axis(lowering, operation, current));
  const std::vector<Value> inputs = current;
  const std::int64_t reverse = operation.integer_attribute("reverse").value_or(0);
  const std::int64_t count = current[0].type.count();
  std::string_view single = single_operation(operation);
  if (Handler handler = scan_handler(single, current[0].type.element);
      !single.empty() && handler != nullptr) {
    Value result = lowering.make(current[0].type);
    lowering.builder()
        .emit(handler, result.reg, {current[0].reg}, static_cast<std::size_t>(count))
        .table =
        lowering.builder().add_table({axis.outer, axis.size, axis.inner,
                                      static_cast<std::int64_t>(current[0].type.element), reverse});
    lowering.define(operation, 0, result);
    return ok();
  }
  for (std::int64_t distance = 1; distance < axis.size; distance *= 2) {
    const int table =
        lowering.builder().add_table({axis.outer, axis.size, axis.inner, distance, reverse});
    std::vector<Value> arguments;
    for (const Value& input : current) {
      arguments.push_back(lowering.make(input.type));
      lowering.builder()
          .emit(shift_handler(register_bytes(input.type.element)), arguments.back().reg,
                {input.reg}, static_cast<std::size_t>(count))
          .table = table;
    }
    arguments.insert(arguments.end(), current.begin(), current.end());
    TRY_ASSIGN(std::vector<Value> combined, combine(lowering, operation, arguments));
    if (combined.size() != current.size())
      return lowering.malformed(operation, "its combine function does not fit");
    for (std::size_t i = 0; i < combined.size(); ++i) {
      if (combined[i].type.element != current[i].type.element || combined[i].type.count() != count)
        return lowering.malformed(operation, "its combine function does not fit");
      // Other values may share the combined register, so the kept elements go into a copy.
      Value kept = lowering.make(current[i].type);
      lowering.copy(Value{kept.type, combined[i].reg}, kept);
      lowering.builder()
          .emit(keep_edge_handler(register_bytes(kept.type.element)), kept.reg, {current[i].reg},
                static_cast<std::size_t>(count))
          .table = table;
      current[i] = kept;
    }
  }
  for (std::size_t i = 0; i < current.size(); ++i)
    lowering.define(operation, i, Value{inputs[i].type, current[i].reg});
  return ok();
}

Status lower_map(Lowering& lowering, const Operation& operation) {
  if (operation.integer_attribute("pack").value_or(1) != 1)
    return lowering.refuse(operation, "with a pack of several elements");
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  if (inputs.empty()) return lowering.malformed(operation, "it has no operands");
  for (const Value& input : inputs)
    if (input.type.shape != inputs[0].type.shape)
      return lowering.malformed(operation, "its operands' shapes differ");
  TRY_ASSIGN(std::vector<Value> results, combine(lowering, operation, inputs));
  for (std::size_t i = 0; i < results.size(); ++i) {
    ValueType type = results[i].type;
    if (type.count() != inputs[0].type.count())
      return lowering.malformed(operation, "its function's result is no scalar");
    type.shape = inputs[0].type.shape;
    lowering.define(operation, i, Value{type, results[i].reg});
  }
  return ok();
}

Status lower_dot(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 3, 3));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  const std::vector<std::int64_t>&a = inputs[0].type.shape, &b = inputs[1].type.shape,
        &c = inputs[2].type.shape;
  const std::size_t rank = a.size();
  const bool ranks = (rank == 2 || rank == 3) && b.size() == rank && c.size() == rank;
  if (!ranks || a[rank - 1] != b[rank - 2] || a[rank - 2] != c[rank - 2] ||
      b[rank - 1] != c[rank - 1] || (rank == 3 && (a[0] != b[0] || a[0] != c[0])))
    return lowering.malformed(operation, "shapes do not fit");
  const Element left = inputs[0].type.element, right = inputs[1].type.element,
                sum = inputs[2].type.element;
  const bool mixed_fp8 =
      memory_bytes(left) == 1 && is_float(left) && memory_bytes(right) == 1 && is_float(right);
  if (left != right && !mixed_fp8)
    return lowering.refuse(operation, fmt::format("of {} and {}", name_of(left), name_of(right)));
  Handler handler = dot_handler(left, sum);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("of {} into {}", name_of(left), name_of(sum)));
  std::string precision = "ieee";
  if (auto written = operation.attributes.find("inputPrecision");
      written != operation.attributes.end())
    precision = written->second;
  static const std::map<std::string, DotPrecision> known = {
      {"ieee", DotPrecision::ieee},     {"tf32", DotPrecision::tf32},
      {"tf32x3", DotPrecision::tf32x3}, {"bf16x3", DotPrecision::bf16x3},
      {"bf16x6", DotPrecision::bf16x6},
  };
  auto mode = known.find(precision);
  if (mode == known.end())
    return lowering.refuse(operation, fmt::format("with precision '{}'", precision));
  const DotPrecision used = left == Element::f32 ? mode->second : DotPrecision::ieee;
  const std::int64_t batch = rank == 3 ? a[0] : 1, m = a[rank - 2], n = b[rank - 1],
                     k = a[rank - 1];
  Value result = lowering.make(inputs[2].type);
  Instruction& made =
      lowering.builder().emit(handler, result.reg, {inputs[0].reg, inputs[1].reg, inputs[2].reg},
                              static_cast<std::size_t>(result.type.count()));
  made.cost =
      static_cast<std::uint32_t>(std::min<std::int64_t>(batch * m * n * k / 8 + 1, 0xFFFFFFFF));
  made.table = lowering.builder().add_table({batch, m, n, k, static_cast<std::int64_t>(used)});
  lowering.round(result);
  lowering.define(operation, 0, result);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
