#include "gym/replay/operator_arguments.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/MemoryFormat.h>

namespace tritonsmith::gym::replay {
namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

struct Conversion {
  const tensors::TensorTable& tensors;
  Reading reading;

  Result<IValue> tensor(const plan::Value& value) const;
  Result<IValue> number(const plan::Value& value) const;
  Result<IValue> integer(const plan::Value& value) const;
  Result<IValue> enumeration(const plan::Value& value) const;
  Result<IValue> list(const plan::Value& value, const TypePtr& element,
                      std::optional<int> fixed) const;
  Result<IValue> convert(const plan::Value& value, const TypePtr& type,
                         std::optional<int> fixed) const;
};

Result<IValue> Conversion::tensor(const plan::Value& value) const {
  if (const auto* reference = std::get_if<plan::TensorRef>(&value.data)) {
    const at::Tensor& made = tensors.at(static_cast<std::size_t>(reference->index));
    if (!made.defined()) return fail("tensor {} does not exist yet", reference->index);
    return IValue(made);
  }
  // `x + 2` reaches the dispatcher as add.Tensor(x, 2). The tensor is marked as a wrapped number,
  // so that type promotion treats it as a number.
  TRY_ASSIGN(const IValue scalar, number(value));
  at::Tensor wrapped = at::scalar_to_tensor(scalar.toScalar());
  wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
  return IValue(wrapped);
}

Result<IValue> Conversion::number(const plan::Value& value) const {
  if (const auto* i = std::get_if<std::int64_t>(&value.data)) return IValue(*i);
  if (const auto* f = std::get_if<double>(&value.data))
    return IValue(reading.rounds_numbers ? static_cast<double>(static_cast<float>(*f)) : *f);
  if (const auto* b = std::get_if<bool>(&value.data)) return IValue(*b);
  if (const auto* c = std::get_if<plan::Complex>(&value.data))
    return IValue(c10::complex<double>(c->real, c->imaginary));
  return fail("a number was expected");
}

Result<IValue> Conversion::integer(const plan::Value& value) const {
  if (const auto* i = std::get_if<std::int64_t>(&value.data)) return IValue(*i);
  if (const auto* b = std::get_if<bool>(&value.data)) return IValue(static_cast<std::int64_t>(*b));
  return enumeration(value);
}

// Converts torch's enumerations, which the dispatcher carries as integers. Only names are accepted,
// because operators index their tables with the given integer.
Result<IValue> Conversion::enumeration(const plan::Value& value) const {
  if (const auto* dtype = std::get_if<plan::DType>(&value.data)) {
    auto scalar_type = tensors::scalar_type_of(*dtype);
    if (reading.precision == Precision::float64 && c10::isFloatingType(scalar_type))
      scalar_type = c10::kDouble;
    return IValue(static_cast<std::int64_t>(scalar_type));
  }
  if (std::holds_alternative<plan::Layout>(value.data))
    return IValue(static_cast<std::int64_t>(c10::Layout::Strided));
  if (const auto* format = std::get_if<plan::MemoryFormat>(&value.data)) {
    constexpr std::array formats = {c10::MemoryFormat::Contiguous, c10::MemoryFormat::Preserve,
                                    c10::MemoryFormat::ChannelsLast,
                                    c10::MemoryFormat::ChannelsLast3d};
    return IValue(static_cast<std::int64_t>(formats.at(static_cast<std::size_t>(*format))));
  }
  return fail("a whole number, a dtype, a layout or a memory format was expected");
}

Result<IValue> Conversion::list(const plan::Value& value, const TypePtr& element,
                                std::optional<int> fixed) const {
  const std::vector<plan::Value>* items = nullptr;
  if (const auto* list = std::get_if<plan::List>(&value.data)) items = &list->items;
  if (const auto* tuple = std::get_if<plan::Tuple>(&value.data)) items = &tuple->items;
  // A list of fixed length, such as int[2], also takes one number for all items.
  const std::vector<plan::Value> repeated(
      items == nullptr && fixed ? static_cast<std::size_t>(*fixed) : 0, value);
  if (items == nullptr && fixed) items = &repeated;
  if (items == nullptr) return fail("a list was expected");
  c10::impl::GenericList out(element->kind() == TypeKind::SymIntType ? c10::IntType::get()
                                                                     : element);
  for (const plan::Value& item : *items) {
    TRY_ASSIGN(IValue converted, convert(item, element, std::nullopt));
    out.push_back(std::move(converted));
  }
  return IValue(out);
}

Result<IValue> Conversion::convert(const plan::Value& value, const TypePtr& type,
                                   std::optional<int> fixed) const {
  const bool is_none = std::holds_alternative<plan::None>(value.data);
  switch (type->kind()) {
    case TypeKind::OptionalType:
      if (is_none) return IValue();
      return convert(value, type->castRaw<c10::OptionalType>()->getElementType(), fixed);
    case TypeKind::TensorType:
      if (is_none) return IValue(at::Tensor());
      return tensor(value);
    case TypeKind::NumberType:
      return number(value);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return integer(value);
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      return enumeration(value);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType: {
      TRY_ASSIGN(const IValue scalar, number(value));
      if (scalar.isComplexDouble()) return fail("a real number was expected");
      return IValue(scalar.toScalar().toDouble());
    }
    case TypeKind::BoolType:
    case TypeKind::SymBoolType: {
      TRY_ASSIGN(const IValue scalar, number(value));
      return IValue(scalar.toScalar().toBool());
    }
    case TypeKind::StringType:
      if (const auto* text = std::get_if<std::string>(&value.data)) return IValue(*text);
      return fail("a string was expected");
    case TypeKind::DeviceObjType:
      if (const auto* device = std::get_if<plan::DeviceKind>(&value.data);
          device != nullptr && *device == plan::DeviceKind::meta)
        return fail("a meta tensor holds no values");
      return IValue(reading.device);
    case TypeKind::ListType:
      return list(value, type->castRaw<c10::ListType>()->getElementType(), fixed);
    default:
      if (is_none) return IValue();  // such as a generator; the referee seeds
      return fail("the referee passes no argument of type {}", type->str());
  }
}

const plan::Value* find_keyword(const plan::AtenCall& call, const std::string& name) {
  for (const auto& [key, value] : call.kwargs)
    if (key == name) return &value;
  return nullptr;
}

bool names_device(const c10::Argument& argument) {
  const auto& type = argument.real_type();
  return type->kind() == TypeKind::OptionalType &&
         type->castRaw<c10::OptionalType>()->getElementType()->kind() == TypeKind::DeviceObjType;
}

bool is_pinned_memory(const c10::Argument& argument) { return argument.name() == "pin_memory"; }

}  // namespace

Result<torch::jit::Stack> operator_stack(const c10::FunctionSchema& schema,
                                         const plan::AtenCall& call,
                                         const tensors::TensorTable& tensors,
                                         const Reading& reading) {
  const Conversion conversion{tensors, reading};
  const auto& arguments = schema.arguments();
  if (call.args.size() > arguments.size())
    return fail("{} takes {} arguments, not {}", call.op, arguments.size(), call.args.size());
  torch::jit::Stack stack;
  std::size_t keywords_used = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& argument = arguments[i];
    const plan::Value* value =
        i < call.args.size() ? &call.args[i] : find_keyword(call, argument.name());
    if (i >= call.args.size() && value != nullptr) ++keywords_used;
    // Without a device argument, the new tensor would be on the CPU.
    if (names_device(argument) &&
        (value == nullptr || std::holds_alternative<plan::None>(value->data))) {
      stack.push_back(IValue(reading.device));
      continue;
    }
    if (value == nullptr || is_pinned_memory(argument)) {
      if (!argument.default_value() && value == nullptr)
        return fail("{} lacks its argument '{}'", call.op, argument.name());
      stack.push_back(argument.default_value().value_or(IValue()));
      continue;
    }
    auto converted = conversion.convert(*value, argument.real_type(), argument.N());
    if (!converted)
      return fail("{}, argument '{}': {}", call.op, argument.name(), converted.error().message);
    stack.push_back(*std::move(converted));
  }
  if (keywords_used != call.kwargs.size()) return fail("{} has no such keyword argument", call.op);
  return stack;
}

}  // namespace tritonsmith::gym::replay
