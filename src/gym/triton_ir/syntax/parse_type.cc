// Types: i32, f16, !tt.ptr<f32>, !tt.ptr<f32, 1>, tensor<32x16x!tt.ptr<f32>>,
// !tt.tensordesc<tensor<16x16xf32>>, and the short forms <f32> and <tensor<...>> that
// tt.make_tensor_descriptor prints.
#include <cctype>

#include "gym/triton_ir/syntax/parser_state.h"

namespace tritonsmith::gym::triton_ir {
namespace {

Result<Element> parse_scalar(Scanner& scanner) {
  std::string_view word = scanner.word();
  if (word == "index") return Element::i64;
  // as descriptors write them
  if (word.starts_with("ui") || word.starts_with("si")) word.remove_prefix(1);
  for (const auto& [element, name] : enum_names<Element>)
    if (name == word && element < Element::pointer) return element;
  return scanner.error(fmt::format("'{}' is no type we know", word.substr(0, 40)));
}

Result<ValueType> parse_pointer(Scanner& scanner) {
  TRY(scanner.expect("<"));
  scanner.skip_blanks();
  if (scanner.looking_at("!")) return scanner.error("a pointer to a pointer is not supported");
  if (scanner.looking_at("tensor<")) return scanner.error("a pointer to a tensor is not supported");
  ValueType type{.element = Element::pointer};
  TRY_ASSIGN(type.pointee, parse_scalar(scanner));
  if (scanner.accept(",")) TRY(scanner.balanced());  // the address space
  TRY(scanner.expect(">"));
  return type;
}

// Parses what follows "tensor": <32x16xf32> or <32x!tt.ptr<f32>>, and ignores an encoding.
Result<ValueType> parse_tensor(Scanner& scanner) {
  TRY(scanner.expect("<"));
  ValueType type{.is_tensor = true};
  std::int64_t count = 1;
  while (std::isdigit(static_cast<unsigned char>(scanner.peek())) != 0) {
    auto size = scanner.integer();
    if (!size || *size < 1 || *size > kMaxElements || !scanner.looking_at("x"))
      return scanner.error("a tensor's shape is out of bounds");
    scanner.advance();
    type.shape.push_back(*size);
    count *= *size;
    if (count > kMaxElements || type.shape.size() > kMaxRank)
      return scanner.error("a tensor has too many elements");
  }
  if (scanner.accept("!tt.ptr")) {
    TRY_ASSIGN(ValueType pointer, parse_pointer(scanner));
    type.element = Element::pointer;
    type.pointee = pointer.pointee;
  } else {
    TRY_ASSIGN(type.element, parse_scalar(scanner));
  }
  if (scanner.accept(",")) TRY(scanner.balanced());
  TRY(scanner.expect(">"));
  return type;
}

Result<ValueType> parse_descriptor(Scanner& scanner) {
  TRY(scanner.expect("<"));
  TRY(scanner.expect("tensor"));
  TRY_ASSIGN(ValueType block, parse_tensor(scanner));
  if (scanner.accept(",")) TRY(scanner.balanced());
  TRY(scanner.expect(">"));
  if (block.element == Element::pointer) return scanner.error("a descriptor of pointers");
  return ValueType{.element = Element::descriptor, .pointee = block.element, .shape = block.shape};
}

}  // namespace

Result<ValueType> parse_type(Scanner& scanner) {
  scanner.skip_blanks();
  if (scanner.accept("!tt.ptr")) return parse_pointer(scanner);
  if (scanner.accept("!tt.tensordesc")) return parse_descriptor(scanner);
  if (scanner.looking_at("!")) return scanner.error("a type of another dialect");
  if (scanner.looking_at("<tensor<")) return parse_descriptor(scanner);
  if (scanner.looking_at("<")) return parse_pointer(scanner);
  if (scanner.looking_at("tensor<")) {
    scanner.advance(6);
    return parse_tensor(scanner);
  }
  TRY_ASSIGN(Element element, parse_scalar(scanner));
  return scalar_of(element);
}

}  // namespace tritonsmith::gym::triton_ir
