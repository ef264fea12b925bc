#include "gym/triton_ir/syntax/value_type.h"

namespace tritonsmith::gym::triton_ir {

bool is_integer(Element element) { return element <= Element::i64; }
bool is_float(Element element) { return element >= Element::f8e5m2 && element <= Element::f64; }
bool is_small_float(Element element) {
  return element >= Element::f8e5m2 && element <= Element::bf16;
}

std::size_t register_bytes(Element element) {
  switch (element) {
    case Element::i1:
    case Element::i8:
      return 1;
    case Element::i16:
      return 2;
    case Element::i64:
    case Element::f64:
    case Element::pointer:
      return 8;
    case Element::descriptor:
    case Element::none:
      return 0;
    default:
      return 4;
  }
}

std::size_t memory_bytes(Element element) {
  if (element == Element::f16 || element == Element::bf16) return 2;
  if (is_small_float(element)) return 1;
  return register_bytes(element);
}

std::int64_t ValueType::count() const {
  if (!is_tensor) return 1;
  std::int64_t product = 1;
  for (std::int64_t size : shape) product *= size;
  return product;
}

ValueType ValueType::with_element(Element other) const {
  ValueType type = *this;
  type.element = other;
  if (other != Element::pointer) type.pointee = Element::none;
  return type;
}

ValueType ValueType::pointed_to() const {
  return with_element(Element::none).with_element(pointee);
}

ValueType scalar_of(Element element) { return ValueType{.element = element}; }

ValueType tensor_of(Element element, std::vector<std::int64_t> shape) {
  return ValueType{.element = element, .shape = std::move(shape), .is_tensor = true};
}

std::string to_string(const ValueType& type) {
  std::string dimensions;
  for (std::int64_t size : type.shape) dimensions += fmt::format("{}x", size);
  if (type.element == Element::descriptor)
    return fmt::format("!tt.tensordesc<tensor<{}{}>>", dimensions, name_of(type.pointee));
  std::string element = type.element == Element::pointer
                            ? fmt::format("!tt.ptr<{}>", name_of(type.pointee))
                            : std::string(name_of(type.element));
  return type.is_tensor ? fmt::format("tensor<{}{}>", dimensions, element) : element;
}

}  // namespace tritonsmith::gym::triton_ir
