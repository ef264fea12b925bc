#include "gym/triton_ir/lower/lowering.h"

#include <algorithm>
#include <array>

#include "gym/triton_ir/execute/elementwise.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// Returns the elements and the bytes per element of the register that holds a value of the type.
std::pair<std::size_t, std::size_t> extent(const ValueType& type) {
  if (type.element == Element::descriptor) return {2 + 2 * type.shape.size(), 8};
  return {static_cast<std::size_t>(type.count()), register_bytes(type.element)};
}

// Says whether the operation computes floats that it must round. A maximum and a conversion choose or copy.
bool is_arithmetic(const Operation& operation) {
  constexpr auto computing = std::to_array<std::string_view>(
      {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "tt.precise_divf", "tt.precise_sqrt",
       "tt.extern_elementwise", "tt.elementwise_inline_asm", "tt.dot", "tt.dot_scaled"});
  constexpr auto exact =
      std::to_array<std::string_view>({"math.absf", "math.ceil", "math.floor", "math.trunc",
                                       "math.round", "math.roundeven", "math.copysign"});
  const std::string_view name = operation.name;
  if (name.starts_with("math.")) return std::ranges::find(exact, name) == exact.end();
  if (name == "tt.reduce" || name == "tt.scan") {
    const bool has_body = operation.regions.size() == 1 && !operation.regions[0].blocks.empty() &&
                          !operation.regions[0].blocks[0].operations.empty();
    return has_body && is_arithmetic(operation.regions[0].blocks[0].operations[0]);
  }
  return std::ranges::find(computing, name) != computing.end();
}

bool takes_descriptors(std::string_view operation) {
  return operation.starts_with("tt.descriptor_") || operation.starts_with("scf.") ||
         operation == "tt.call" || operation == "tt.return";
}

}  // namespace

Status Lowering::refuse(const Operation& operation, std::string_view why) {
  SourceLine at = module_.locations[static_cast<std::size_t>(operation.location)];
  refusal_ = Refusal{
      .operation = operation.name, .message = fmt::format("{}: {}", operation.name, why), .at = at};
  return fail("{}", refusal_->message);
}

tl::unexpected<Error> Lowering::malformed(const Operation& operation, std::string_view what) const {
  SourceLine at = module_.locations[static_cast<std::size_t>(operation.location)];
  return fail("malformed Triton IR: {}: {} (kernel line {})", operation.name, what, at.line);
}

Status Lowering::expect_operands(const Operation& operation, std::size_t at_least,
                                 std::size_t at_most) {
  std::size_t count = operation.operands.size();
  if (count < at_least || count > at_most)
    return malformed(operation, fmt::format("{} operands", count));
  return ok();
}

Result<Value> Lowering::operand(const Operation& operation, std::size_t index) {
  if (index >= operation.operands.size()) return malformed(operation, "an operand is missing");
  const Value& found = value(operation.operands[index]);
  if (!found.defined()) return malformed(operation, "an operand is used before it is defined");
  // A descriptor's register does not hold its block's elements. Only operations that expect a
  // descriptor may take one.
  if (found.type.element == Element::descriptor &&
      (lanes_ > 0 || !takes_descriptors(operation.name)))
    return malformed(operation, "an operand is a descriptor");
  if (lanes_ > 0 && !found.type.is_tensor) return spread(found, {lanes_});
  return found;
}

Result<Value> Lowering::in_lanes(const Operation& operation, ValueId id) {
  const Value& found = value(id);
  if (!found.defined()) return malformed(operation, "an operand is used before it is defined");
  if (found.type.element == Element::descriptor)
    return malformed(operation, "an operand is a descriptor");
  return found.type.is_tensor ? found : spread(found, {lanes_});
}

Result<std::vector<Value>> Lowering::operands(const Operation& operation, std::size_t first) {
  std::vector<Value> list;
  for (std::size_t i = first; i < operation.operands.size(); ++i) {
    TRY_ASSIGN(Value found, operand(operation, i));
    list.push_back(std::move(found));
  }
  return list;
}

Result<Register> Lowering::scalar(const Operation& operation, std::size_t index, Element element) {
  TRY_ASSIGN(Value found, operand(operation, index));
  if (found.type != scalar_of(element))
    return malformed(operation, fmt::format("operand {} is {}, not {}", index,
                                            to_string(found.type), name_of(element)));
  return found.reg;
}

Value Lowering::make(const ValueType& type) {
  auto [count, bytes] = extent(type);
  return {type, builder_.make(count, bytes)};
}

Value Lowering::make_pinned(const ValueType& type) {
  auto [count, bytes] = extent(type);
  return {type, builder_.make_pinned(count, bytes)};
}

void Lowering::define(const Operation& operation, std::size_t index, const Value& value) {
  if (index >= operation.results.size()) return;
  define(operation.results[index], value);
  const Element element = value.type.element;
  const bool is_loaded = operation.name == "tt.load" || operation.name == "tt.descriptor_load";
  if ((element != Element::f32 && element != Element::f64) ||
      (!is_loaded && !is_arithmetic(operation)))
    return;
  Instruction* writer = builder_.last_writer(value.reg);
  if (writer == nullptr) return;
  const auto [count, bytes] = extent(value.type);
  writer->rounded = static_cast<std::uint32_t>(count);
  writer->rounded_bytes = static_cast<std::uint32_t>(bytes);
  writer->is_loaded = is_loaded;
}

Value Lowering::spread(const Value& scalar, const std::vector<std::int64_t>& shape) {
  ValueType type = scalar.type;
  type.is_tensor = true;
  type.shape = shape;
  Value made = make(type);
  builder_.emit(splat_handler(register_bytes(type.element)), made.reg, {scalar.reg},
                static_cast<std::size_t>(type.count()));
  return made;
}

void Lowering::copy(const Value& from, const Value& to) {
  if (from.reg == to.reg) return;
  auto [count, bytes] = extent(to.type);
  builder_.emit(copy_handler(bytes), to.reg, {from.reg}, count);
}

// Copies all values as if at once. If a source is also a target, they go through new registers.
Status Lowering::copy_all(const Operation& operation, const std::vector<Value>& from,
                          const std::vector<Value>& to) {
  if (from.size() != to.size())
    return malformed(operation, "a wrong number of values is handed on");
  bool tangled = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].type != to[i].type)
      return malformed(operation, fmt::format("{} is handed on as {}", to_string(from[i].type),
                                              to_string(to[i].type)));
    for (std::size_t k = 0; k < i; ++k)
      tangled |= to[k].reg == from[i].reg && to[k].reg != from[k].reg;
  }
  std::vector<Value> sources = from;
  if (tangled)
    for (Value& source : sources) {
      Value moved = make(source.type);
      copy(source, moved);
      source = moved;
    }
  for (std::size_t i = 0; i < sources.size(); ++i) copy(sources[i], to[i]);
  return ok();
}

void Lowering::round(const Value& value, bool toward_zero) {
  if (Handler handler = rounding_handler(value.type.element, toward_zero))
    builder_.emit(handler, value.reg, {}, static_cast<std::size_t>(value.type.count()));
}

}  // namespace tritonsmith::gym::triton_ir
