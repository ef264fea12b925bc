#include "gym/triton_ir/execute/assembly.h"
#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

std::string unquoted(const std::string& text) {
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

// Returns a tensor of the same bits whose registers are those of memory.
Value bits_of(Lowering& lowering, const Value& value) {
  const Element element = value.type.element;
  if (!is_small_float(element)) return value;
  Value bits = lowering.make(
      value.type.with_element(memory_bytes(element) == 2 ? Element::i16 : Element::i8));
  lowering.builder().emit(pack_handler(element), bits.reg, {value.reg},
                          static_cast<std::size_t>(value.type.count()));
  return bits;
}

}  // namespace

// Each result is an instruction of its own, which runs the whole block: the block is a function of
// its operands.
Status lower_assembly(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 0, 3));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  const auto constraints = operation.attributes.find("constraints");
  const std::int64_t pack = operation.integer_attribute("packed_element").value_or(0);
  if (constraints == operation.attributes.end() || pack < 1 || pack > 64)
    return lowering.malformed(operation, "its constraints or packed elements are missing");
  auto block = AssemblyBlock::parse(operation.literal, unquoted(constraints->second));
  if (!block) return lowering.refuse(operation, block.error().message);
  const auto registers_for = [&](const ValueType& type) {
    return assembly_registers(memory_bytes(type.element), static_cast<std::size_t>(pack));
  };
  std::vector<std::int64_t> bytes;
  std::size_t registers = 0;
  for (Value& input : inputs) {
    const ValueType& type = input.type;
    if (type.shape != inputs[0].type.shape || type.element == Element::i1 ||
        !(is_integer(type.element) || is_float(type.element)))
      return lowering.refuse(operation, fmt::format("of {}", to_string(type)));
    registers += registers_for(type);
    bytes.push_back(static_cast<std::int64_t>(memory_bytes(type.element)));
    input = bits_of(lowering, input);
  }
  std::size_t results = 0;
  for (const ValueType& type : operation.result_types) results += registers_for(type);
  if (registers != block->operands() || results != block->results() ||
      operation.result_types.size() != operation.results.size())
    return lowering.malformed(operation, "its constraints do not fit its operands");
  lowering.builder().code().assembly.push_back(
      std::make_shared<const AssemblyBlock>(std::move(*block)));
  const std::int64_t index = std::ssize(lowering.builder().code().assembly) - 1;
  std::int64_t first = 0;
  for (std::size_t k = 0; k < operation.result_types.size(); ++k) {
    const ValueType& type = operation.result_types[k];
    const Element element = type.element;
    if ((!inputs.empty() && type.shape != inputs[0].type.shape) || element == Element::i1 ||
        !(is_integer(element) || is_float(element)))
      return lowering.refuse(operation, fmt::format("into {}", to_string(type)));
    const auto count = static_cast<std::size_t>(type.count());
    const auto width = static_cast<std::int64_t>(memory_bytes(element));
    Value made = lowering.make(is_small_float(element)
                                   ? type.with_element(width == 2 ? Element::i16 : Element::i8)
                                   : type);
    Instruction& run = lowering.builder().emit(run_assembly, made.reg, {}, count);
    for (std::size_t i = 0; i < inputs.size(); ++i) run.inputs[i] = inputs[i].reg;
    run.cost = static_cast<std::uint32_t>(count) * 4;
    std::vector<std::int64_t> table = {index, pack, first, width, std::ssize(bytes)};
    table.insert(table.end(), bytes.begin(), bytes.end());
    run.table = lowering.builder().add_table(std::move(table));
    first += static_cast<std::int64_t>(registers_for(type));
    Value result = made;
    if (is_small_float(element)) {
      result = lowering.make(type);
      lowering.builder().emit(unpack_handler(element), result.reg, {made.reg}, count);
    }
    lowering.define(operation, k, result);
  }
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
