#include <algorithm>

#include "gym/triton_ir/lower/operations.h"
#include "gym/triton_ir/syntax/atomic_scope.h"

namespace tritonsmith::gym::triton_ir {
namespace {

MemoryOrder order_of(const Operation& operation) {
  if (is_of_one_program(operation)) return MemoryOrder::within_program;
  if (operation.has_keyword("acq_rel")) return MemoryOrder::both;
  if (operation.has_keyword("acquire")) return MemoryOrder::acquire;
  return operation.has_keyword("release") ? MemoryOrder::release : MemoryOrder::relaxed;
}

void note_atomic(Lowering& lowering, Instruction& made, MemoryOrder order) {
  made.immediate = static_cast<std::int64_t>(order);
  const bool orders = order != MemoryOrder::relaxed && order != MemoryOrder::within_program;
  const bool is_block = made.count > 1 && orders;
  Atomics& atomics = lowering.builder().code().atomics;
  atomics = std::max(atomics, is_block ? Atomics::blocks : Atomics::scalars);
}

// Returns the operands of a store or an atomic: pointers, values and perhaps a mask, which fit.
Result<std::vector<Value>> stored_operands(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 3));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  const ValueType& pointers = inputs[0].type;
  if (pointers.element != Element::pointer || inputs[1].type != pointers.pointed_to())
    return lowering.malformed(operation, "its value does not fit its pointer");
  if (inputs.size() > 2 && inputs[2].type != inputs[1].type.with_element(Element::i1))
    return lowering.malformed(operation, "its mask does not fit");
  return inputs;
}

}  // namespace

Status lower_load(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 1, 3));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  const ValueType& pointers = inputs[0].type;
  if (pointers.element != Element::pointer)
    return lowering.malformed(operation, "its operand is no pointer");
  ValueType type = pointers.pointed_to();
  Handler handler = load_handler(type.element);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("of {}", name_of(type.element)));
  if (inputs.size() > 1 && inputs[1].type != type.with_element(Element::i1))
    return lowering.malformed(operation, "its mask does not fit");
  if (inputs.size() > 2 && inputs[2].type != type)
    return lowering.malformed(operation, "its other value does not fit");
  check_hinted_access(lowering, operation, inputs, 1);
  Value result = lowering.make(type);
  Instruction& made =
      lowering.builder().emit(handler, result.reg, {}, static_cast<std::size_t>(type.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].reg;
  spoil_hinted_load(lowering, operation, inputs, result);
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_store(Lowering& lowering, const Operation& operation) {
  TRY_ASSIGN(const std::vector<Value> inputs, stored_operands(lowering, operation));
  const ValueType& pointers = inputs[0].type;
  Handler handler = store_handler(pointers.pointee);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("of {}", name_of(pointers.pointee)));
  check_hinted_access(lowering, operation, inputs, 2);
  Instruction& made =
      lowering.builder().emit(handler, kNone, {}, static_cast<std::size_t>(pointers.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].reg;
  return ok();
}

Status lower_add_pointer(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 2, 2));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  const ValueType &pointers = inputs[0].type, &offsets = inputs[1].type;
  if (pointers.element != Element::pointer || pointers.shape != offsets.shape)
    return lowering.malformed(operation, "its operands do not fit");
  Handler handler = add_pointer_handler(offsets.element);
  if (handler == nullptr) return lowering.malformed(operation, "its offsets are no integers");
  Value result = lowering.make(pointers);
  lowering.builder()
      .emit(handler, result.reg, {inputs[0].reg, inputs[1].reg},
            static_cast<std::size_t>(pointers.count()))
      .immediate = static_cast<std::int64_t>(memory_bytes(pointers.pointee));
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_atomic(Lowering& lowering, const Operation& operation) {
  TRY_ASSIGN(const std::vector<Value> inputs, stored_operands(lowering, operation));
  const ValueType& pointers = inputs[0].type;
  std::string kind = operation.keywords.empty() ? "" : operation.keywords[0];
  Handler handler = atomic_handler(kind, pointers.pointee);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("'{}' of {}", kind, name_of(pointers.pointee)));
  check_hinted_access(lowering, operation, inputs, 2);
  Value result = lowering.make(inputs[1].type);
  Instruction& made =
      lowering.builder().emit(handler, result.reg, {}, static_cast<std::size_t>(pointers.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].reg;
  note_atomic(lowering, made, order_of(operation));
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_compare_and_swap(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 3, 3));
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  const ValueType& pointers = inputs[0].type;
  if (pointers.element != Element::pointer || inputs[1].type != pointers.pointed_to() ||
      inputs[2].type != inputs[1].type)
    return lowering.malformed(operation, "its values do not fit its pointer");
  Handler handler = compare_and_swap_handler(pointers.pointee);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("of {}", name_of(pointers.pointee)));
  Value result = lowering.make(inputs[1].type);
  note_atomic(
      lowering,
      lowering.builder().emit(handler, result.reg, {inputs[0].reg, inputs[1].reg, inputs[2].reg},
                              static_cast<std::size_t>(pointers.count())),
      order_of(operation));
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_make_descriptor(Lowering& lowering, const Operation& operation) {
  if (operation.types.empty()) return lowering.malformed(operation, "its type is missing");
  const ValueType& type =
      operation.result_types.empty() ? operation.types.back() : operation.result_types[0];
  const std::size_t rank = type.shape.size();
  TRY(lowering.expect_operands(operation, 1 + 2 * rank, 1 + 2 * rank));
  if (type.element != Element::descriptor || rank == 0)
    return lowering.malformed(operation, "a wrong type");
  TRY_ASSIGN(std::vector<Value> inputs, lowering.operands(operation, 0));
  if (inputs[0].type.element != Element::pointer || inputs[0].type.is_tensor ||
      inputs[0].type.pointee != type.pointee)
    return lowering.malformed(operation, "its base does not fit");
  Value result = lowering.make(type);
  inputs.push_back(constant(lowering, scalar_of(Element::i64),
                            operation.integer_attribute("padding").value_or(0) == 2 ? 1 : 0));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Handler handler = set_number_handler(inputs[i].type.element);
    if (inputs[i].type.is_tensor || handler == nullptr)
      return lowering.malformed(operation, "a wrong operand");
    lowering.builder().emit(handler, result.reg, {inputs[i].reg}, 1).immediate =
        static_cast<std::int64_t>(i);
  }
  lowering.define(operation, 0, result);
  return ok();
}

// Fills a descriptor that is an argument of the kernel. The base is bound to the first number of
// its register. The shape (i32) and strides (i64) are the arguments after it.
Status fill_descriptor(Lowering& lowering, const Function& kernel, std::size_t index) {
  const Value& descriptor = lowering.value(kernel.arguments[index].value);
  for (std::size_t i = 1; i <= 2 * descriptor.type.shape.size(); ++i) {
    if (index + i >= kernel.arguments.size())
      return fail("kernel {}: the shape of descriptor argument {} is missing", kernel.name, index);
    const Value& number = lowering.value(kernel.arguments[index + i].value);
    Handler handler = set_number_handler(number.type.element);
    if (handler == nullptr || number.type.is_tensor || !is_integer(number.type.element))
      return fail("kernel {}: the shape of descriptor argument {} is no number", kernel.name,
                  index);
    lowering.builder().emit(handler, descriptor.reg, {number.reg}, 1).immediate =
        static_cast<std::int64_t>(i);
  }
  return ok();
}

namespace {

struct DescriptorBlock {
  Value descriptor, addresses, mask;
};

// The operands are the descriptor and, from `first` on, the block's i32 offsets.
Result<DescriptorBlock> descriptor_block(Lowering& lowering, const Operation& operation,
                                         std::size_t first, const ValueType& block) {
  TRY_ASSIGN(Value descriptor, lowering.operand(operation, 0));
  const std::size_t rank = descriptor.type.shape.size();
  if (descriptor.type.element != Element::descriptor || block.element != descriptor.type.pointee ||
      block.count() != tensor_of(Element::i1, descriptor.type.shape).count())
    return lowering.malformed(operation, "its descriptor does not fit");
  Value offsets = lowering.make(tensor_of(Element::i64, {static_cast<std::int64_t>(rank)}));
  for (std::size_t i = 0; i < rank; ++i) {
    TRY_ASSIGN(Register offset, lowering.scalar(operation, first + i, Element::i32));
    lowering.builder().emit(set_number_handler(Element::i32), offsets.reg, {offset}, 1).immediate =
        static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> table = {static_cast<std::int64_t>(rank)};
  table.insert(table.end(), descriptor.type.shape.begin(), descriptor.type.shape.end());
  table.push_back(static_cast<std::int64_t>(memory_bytes(block.element)));
  const int index = lowering.builder().add_table(std::move(table));
  ValueType pointers = block.with_element(Element::pointer);
  pointers.pointee = block.element;
  DescriptorBlock made{descriptor, lowering.make(pointers),
                       lowering.make(block.with_element(Element::i1))};
  auto count = static_cast<std::size_t>(block.count());
  lowering.builder().emit(check_descriptor, kNone, {descriptor.reg}, 1).table =
      lowering.builder().add_table({static_cast<std::int64_t>(rank),
                                    static_cast<std::int64_t>(memory_bytes(block.element))});
  lowering.builder()
      .emit(descriptor_addresses, made.addresses.reg, {descriptor.reg, offsets.reg}, count)
      .table = index;
  lowering.builder()
      .emit(descriptor_mask, made.mask.reg, {descriptor.reg, offsets.reg}, count)
      .table = index;
  return made;
}

}  // namespace

Status lower_descriptor_load(Lowering& lowering, const Operation& operation) {
  if (operation.result_types.size() != 1)
    return lowering.malformed(operation, "its result's type is missing");
  ValueType type = operation.result_types[0];
  TRY_ASSIGN(DescriptorBlock block, descriptor_block(lowering, operation, 1, type));
  Handler padding = descriptor_padding_handler(type.element), load = load_handler(type.element);
  if (padding == nullptr || load == nullptr)
    return lowering.refuse(operation, fmt::format("of {}", name_of(type.element)));
  auto count = static_cast<std::size_t>(type.count());
  Value other = lowering.make(type), result = lowering.make(type);
  lowering.builder().emit(padding, other.reg, {block.descriptor.reg}, count).table =
      lowering.builder().add_table({std::ssize(block.descriptor.type.shape)});
  lowering.builder().emit(load, result.reg, {block.addresses.reg, block.mask.reg, other.reg},
                          count);
  lowering.define(operation, 0, result);
  return ok();
}

Status lower_descriptor_store(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 3, 2 + kMaxRank));
  TRY_ASSIGN(Value source, lowering.operand(operation, operation.operands.size() - 1));
  TRY_ASSIGN(DescriptorBlock block, descriptor_block(lowering, operation, 1, source.type));
  Handler handler = store_handler(source.type.element);
  if (handler == nullptr)
    return lowering.refuse(operation, fmt::format("of {}", name_of(source.type.element)));
  lowering.builder().emit(handler, kNone, {block.addresses.reg, source.reg, block.mask.reg},
                          static_cast<std::size_t>(source.type.count()));
  return ok();
}

Status lower_descriptor_reduce(Lowering& lowering, const Operation& operation) {
  TRY(lowering.expect_operands(operation, 3, 2 + kMaxRank));
  TRY_ASSIGN(Value source, lowering.operand(operation, operation.operands.size() - 1));
  TRY_ASSIGN(DescriptorBlock block, descriptor_block(lowering, operation, 1, source.type));
  std::string kind = operation.keywords.empty() ? "" : operation.keywords[0];
  if (kind == "add" && is_float(source.type.element)) kind = "fadd";
  Handler handler = atomic_handler(kind, source.type.element);
  if (handler == nullptr)
    return lowering.refuse(operation,
                           fmt::format("'{}' of {}", kind, name_of(source.type.element)));
  Value old = lowering.make(source.type);
  note_atomic(
      lowering,
      lowering.builder().emit(handler, old.reg, {block.addresses.reg, source.reg, block.mask.reg},
                              static_cast<std::size_t>(source.type.count())),
      MemoryOrder::relaxed);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
