#include <algorithm>

#include "gym/triton_ir/lower/lowering.h"
#include "gym/triton_ir/syntax/atomic_scope.h"

namespace tritonsmith::gym::triton_ir {
namespace {

MemoryOrder order_of(const Operation& operation) {
  if (is_of_one_program(operation)) return MemoryOrder::within_program;
  if (operation.has_keyword("acq_rel")) return MemoryOrder::both;
  if (operation.has_keyword("acquire")) return MemoryOrder::acquire;
  return operation.has_keyword("release") ? MemoryOrder::release : MemoryOrder::relaxed;
}

}  // namespace

void Lowering::note_atomic(Instruction& made, MemoryOrder order) {
  made.immediate = static_cast<std::int64_t>(order);
  const bool orders = order != MemoryOrder::relaxed && order != MemoryOrder::within_program;
  const bool is_block = made.count > 1 && orders;
  Atomics& atomics = builder_.code().atomics;
  atomics = std::max(atomics, is_block ? Atomics::blocks : Atomics::scalars);
}

Status Lowering::lower_load(const Operation& operation) {
  TRY(expect_operands(operation, 1, 3));
  TRY_ASSIGN(std::vector<Value> inputs, operands(operation, 0));
  const ValueType& pointers = inputs[0].type;
  if (pointers.element != Element::pointer)
    return malformed(operation, "its operand is no pointer");
  ValueType type = pointers.pointed_to();
  Handler handler = load_handler(type.element);
  if (handler == nullptr) return refuse(operation, fmt::format("of {}", name_of(type.element)));
  if (inputs.size() > 1 && inputs[1].type != type.with_element(Element::i1))
    return malformed(operation, "its mask does not fit");
  if (inputs.size() > 2 && inputs[2].type != type)
    return malformed(operation, "its other value does not fit");
  Value result = make(type);
  Instruction& made =
      builder_.emit(handler, result.place, {}, static_cast<std::size_t>(type.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].place;
  define(operation, 0, result);
  return ok();
}

Status Lowering::lower_store(const Operation& operation) {
  TRY(expect_operands(operation, 2, 3));
  TRY_ASSIGN(std::vector<Value> inputs, operands(operation, 0));
  const ValueType& pointers = inputs[0].type;
  if (pointers.element != Element::pointer || inputs[1].type != pointers.pointed_to())
    return malformed(operation, "its value does not fit its pointer");
  if (inputs.size() > 2 && inputs[2].type != inputs[1].type.with_element(Element::i1))
    return malformed(operation, "its mask does not fit");
  Handler handler = store_handler(pointers.pointee);
  if (handler == nullptr) return refuse(operation, fmt::format("of {}", name_of(pointers.pointee)));
  Instruction& made = builder_.emit(handler, kNone, {}, static_cast<std::size_t>(pointers.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].place;
  return ok();
}

Status Lowering::lower_add_pointer(const Operation& operation) {
  TRY(expect_operands(operation, 2, 2));
  TRY_ASSIGN(std::vector<Value> inputs, operands(operation, 0));
  const ValueType &pointers = inputs[0].type, &offsets = inputs[1].type;
  if (pointers.element != Element::pointer || pointers.shape != offsets.shape)
    return malformed(operation, "its operands do not fit");
  Handler handler = add_pointer_handler(offsets.element);
  if (handler == nullptr) return malformed(operation, "its offsets are no integers");
  Value result = make(pointers);
  builder_
      .emit(handler, result.place, {inputs[0].place, inputs[1].place},
            static_cast<std::size_t>(pointers.count()))
      .immediate = static_cast<std::int64_t>(memory_bytes(pointers.pointee));
  define(operation, 0, result);
  return ok();
}

Status Lowering::lower_atomic(const Operation& operation) {
  TRY(expect_operands(operation, 2, 3));
  TRY_ASSIGN(std::vector<Value> inputs, operands(operation, 0));
  const ValueType& pointers = inputs[0].type;
  if (pointers.element != Element::pointer || inputs[1].type != pointers.pointed_to())
    return malformed(operation, "its value does not fit its pointer");
  if (inputs.size() > 2 && inputs[2].type != inputs[1].type.with_element(Element::i1))
    return malformed(operation, "its mask does not fit");
  std::string kind = operation.keywords.empty() ? "" : operation.keywords[0];
  Handler handler = atomic_handler(kind, pointers.pointee);
  if (handler == nullptr)
    return refuse(operation, fmt::format("'{}' of {}", kind, name_of(pointers.pointee)));
  Value result = make(inputs[1].type);
  Instruction& made =
      builder_.emit(handler, result.place, {}, static_cast<std::size_t>(pointers.count()));
  for (std::size_t i = 0; i < inputs.size(); ++i) made.inputs[i] = inputs[i].place;
  note_atomic(made, order_of(operation));
  define(operation, 0, result);
  return ok();
}

Status Lowering::lower_compare_and_swap(const Operation& operation) {
  TRY(expect_operands(operation, 3, 3));
  TRY_ASSIGN(std::vector<Value> inputs, operands(operation, 0));
  const ValueType& pointers = inputs[0].type;
  if (pointers.element != Element::pointer || inputs[1].type != pointers.pointed_to() ||
      inputs[2].type != inputs[1].type)
    return malformed(operation, "its values do not fit its pointer");
  Handler handler = compare_and_swap_handler(pointers.pointee);
  if (handler == nullptr) return refuse(operation, fmt::format("of {}", name_of(pointers.pointee)));
  Value result = make(inputs[1].type);
  note_atomic(
      builder_.emit(handler, result.place, {inputs[0].place, inputs[1].place, inputs[2].place},
                    static_cast<std::size_t>(pointers.count())),
      order_of(operation));
  define(operation, 0, result);
  return ok();
}

Status Lowering::lower_make_descriptor(const Operation& operation) {
  if (operation.types.empty()) return malformed(operation, "its type is missing");
  const ValueType& type =
      operation.result_types.empty() ? operation.types.back() : operation.result_types[0];
  const std::size_t rank = type.shape.size();
  TRY(expect_operands(operation, 1 + 2 * rank, 1 + 2 * rank));
  if (type.element != Element::descriptor || rank == 0) return malformed(operation, "a wrong type");
  TRY_ASSIGN(std::vector<Value> inputs, operands(operation, 0));
  if (inputs[0].type.element != Element::pointer || inputs[0].type.is_tensor ||
      inputs[0].type.pointee != type.pointee)
    return malformed(operation, "its base does not fit");
  Value result = make(type);
  inputs.push_back(constant(scalar_of(Element::i64),
                            operation.integer_attribute("padding").value_or(0) == 2 ? 1 : 0));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Handler handler = set_number_handler(inputs[i].type.element);
    if (inputs[i].type.is_tensor || handler == nullptr)
      return malformed(operation, "a wrong operand");
    builder_.emit(handler, result.place, {inputs[i].place}, 1).immediate =
        static_cast<std::int64_t>(i);
  }
  define(operation, 0, result);
  return ok();
}

// Fills a descriptor that is an argument of the kernel. The base is bound to the first number of
// its register. The shape (i32) and strides (i64) are the arguments after it.
Status Lowering::fill_descriptor(const Function& kernel, std::size_t index) {
  const Value& descriptor = value(kernel.arguments[index].value);
  for (std::size_t i = 1; i <= 2 * descriptor.type.shape.size(); ++i) {
    if (index + i >= kernel.arguments.size())
      return fail("kernel {}: the shape of descriptor argument {} is missing", kernel.name, index);
    const Value& number = value(kernel.arguments[index + i].value);
    Handler handler = set_number_handler(number.type.element);
    if (handler == nullptr || number.type.is_tensor || !is_integer(number.type.element))
      return fail("kernel {}: the shape of descriptor argument {} is no number", kernel.name,
                  index);
    builder_.emit(handler, descriptor.place, {number.place}, 1).immediate =
        static_cast<std::int64_t>(i);
  }
  return ok();
}

// The operands are the descriptor and, from `first` on, the block's i32 offsets.
Result<Lowering::DescriptorBlock> Lowering::descriptor_block(const Operation& operation,
                                                             std::size_t first,
                                                             const ValueType& block) {
  TRY_ASSIGN(Value descriptor, operand(operation, 0));
  const std::size_t rank = descriptor.type.shape.size();
  if (descriptor.type.element != Element::descriptor || block.element != descriptor.type.pointee ||
      block.count() != tensor_of(Element::i1, descriptor.type.shape).count())
    return malformed(operation, "its descriptor does not fit");
  Value offsets = make(tensor_of(Element::i64, {static_cast<std::int64_t>(rank)}));
  for (std::size_t i = 0; i < rank; ++i) {
    TRY_ASSIGN(Register offset, scalar(operation, first + i, Element::i32));
    builder_.emit(set_number_handler(Element::i32), offsets.place, {offset}, 1).immediate =
        static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> table = {static_cast<std::int64_t>(rank)};
  table.insert(table.end(), descriptor.type.shape.begin(), descriptor.type.shape.end());
  table.push_back(static_cast<std::int64_t>(memory_bytes(block.element)));
  const int index = builder_.add_table(std::move(table));
  ValueType pointers = block.with_element(Element::pointer);
  pointers.pointee = block.element;
  DescriptorBlock made{descriptor, make(pointers), make(block.with_element(Element::i1))};
  auto count = static_cast<std::size_t>(block.count());
  builder_
      .emit(descriptor_addresses, made.addresses.place, {descriptor.place, offsets.place}, count)
      .table = index;
  builder_.emit(descriptor_mask, made.mask.place, {descriptor.place, offsets.place}, count).table =
      index;
  return made;
}

Status Lowering::lower_descriptor_load(const Operation& operation) {
  if (operation.result_types.size() != 1)
    return malformed(operation, "its result's type is missing");
  ValueType type = operation.result_types[0];
  TRY_ASSIGN(DescriptorBlock block, descriptor_block(operation, 1, type));
  Handler padding = descriptor_padding_handler(type.element), load = load_handler(type.element);
  if (padding == nullptr || load == nullptr)
    return refuse(operation, fmt::format("of {}", name_of(type.element)));
  auto count = static_cast<std::size_t>(type.count());
  Value other = make(type), result = make(type);
  builder_.emit(padding, other.place, {block.descriptor.place}, count).table =
      builder_.add_table({std::ssize(block.descriptor.type.shape)});
  builder_.emit(load, result.place, {block.addresses.place, block.mask.place, other.place}, count);
  define(operation, 0, result);
  return ok();
}

Status Lowering::lower_descriptor_store(const Operation& operation) {
  TRY(expect_operands(operation, 3, 2 + kMaxRank));
  TRY_ASSIGN(Value source, operand(operation, operation.operands.size() - 1));
  TRY_ASSIGN(DescriptorBlock block, descriptor_block(operation, 1, source.type));
  Handler handler = store_handler(source.type.element);
  if (handler == nullptr)
    return refuse(operation, fmt::format("of {}", name_of(source.type.element)));
  builder_.emit(handler, kNone, {block.addresses.place, source.place, block.mask.place},
                static_cast<std::size_t>(source.type.count()));
  return ok();
}

Status Lowering::lower_descriptor_reduce(const Operation& operation) {
  TRY(expect_operands(operation, 3, 2 + kMaxRank));
  TRY_ASSIGN(Value source, operand(operation, operation.operands.size() - 1));
  TRY_ASSIGN(DescriptorBlock block, descriptor_block(operation, 1, source.type));
  std::string kind = operation.keywords.empty() ? "" : operation.keywords[0];
  if (kind == "add" && is_float(source.type.element)) kind = "fadd";
  Handler handler = atomic_handler(kind, source.type.element);
  if (handler == nullptr)
    return refuse(operation, fmt::format("'{}' of {}", kind, name_of(source.type.element)));
  Value old = make(source.type);
  note_atomic(
      builder_.emit(handler, old.place, {block.addresses.place, source.place, block.mask.place},
                    static_cast<std::size_t>(source.type.count())),
      MemoryOrder::relaxed);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
