#include <cctype>

#include "gym/triton_ir/syntax/parser_state.h"

namespace tritonsmith::gym::triton_ir {
namespace {
constexpr std::size_t kMaxOperands = 1024;
constexpr std::int64_t kMaxResults = 256;
}  // namespace

// Grammar: [results =] name ... [loc(...)], up to the end of its last bracket's line.
Result<Operation> Parser::parse_operation() {
  Operation operation;
  std::vector<std::pair<std::string, int>> names;
  scanner_.skip_blanks();
  if (scanner_.peek() == '%') {
    do {
      TRY_ASSIGN(std::string name, value_name());
      std::int64_t count = scanner_.accept(":") ? scanner_.integer().value_or(0) : 1;
      if (count < 1 || count > kMaxResults) return scanner_.error("a bad number of results");
      names.emplace_back(name, static_cast<int>(count));
      if (names.size() > kMaxOperands) return scanner_.error("too many results");
    } while (scanner_.accept(","));
    TRY(scanner_.expect("="));
    scanner_.skip_blanks();
  }
  if (scanner_.peek() == '"') {
    TRY_ASSIGN(operation.name, scanner_.string());
    TRY(parse_generic(operation));
  } else {
    operation.name = scanner_.keyword();
    if (operation.name.empty()) return scanner_.error("an operation was expected");
    if (operation.name == "scf.for")
      TRY(parse_for(operation));
    else if (operation.name == "scf.if")
      TRY(parse_if(operation));
    else if (operation.name == "scf.while")
      TRY(parse_while(operation));
    else if (operation.name == "arith.constant")
      TRY(parse_constant(operation));
    else
      TRY(parse_loose(operation));
  }
  TRY(parse_tail(operation));
  // Results become visible only now, because a region's own values may have the same names.
  for (const auto& [name, count] : names) {
    ValueId first = define(name, count);
    for (int i = 0; i < count; ++i) operation.results.push_back(first + i);
  }
  return operation;
}

// [{attributes}] [loc(...)] newline
Status Parser::parse_tail(Operation& operation) {
  if (scanner_.accept("{")) TRY(parse_attributes(operation));
  TRY(parse_location(operation.location));
  scanner_.skip_blanks();
  if (!scanner_.at_line_end() && scanner_.peek() != '}')
    return scanner_.error(fmt::format("unexpected text after {}", operation.name));
  return ok();
}

// "name"(operands) [successors] <{properties}> ({region}, {region}) {attributes} : (types) -> types
Status Parser::parse_generic(Operation& operation) {
  TRY(scanner_.expect("("));
  TRY(parse_operands(operation, ")"));
  if (scanner_.accept("[")) {
    do TRY(parse_successor(operation));
    while (scanner_.accept(","));
    TRY(scanner_.expect("]"));
  }
  if (scanner_.accept("<{")) {
    TRY(parse_attributes(operation));
    TRY(scanner_.expect(">"));
  }
  if (scanner_.accept("(")) {
    do {
      TRY_ASSIGN(Region region, parse_region());
      operation.regions.push_back(std::move(region));
    } while (scanner_.accept(","));
    TRY(scanner_.expect(")"));
  }
  if (scanner_.accept("{")) TRY(parse_attributes(operation));
  TRY(scanner_.expect(":"));
  return parse_signature(operation);
}

// scf.for [unsigned] %i = %a to %b step %c [iter_args(%x = %y, ...) -> (types)] [: type] { body }
// Operands: lower, upper, step, initial values. Block arguments: the counter, then the carried
// values.
Status Parser::parse_for(Operation& operation) {
  if (scanner_.accept("unsigned")) operation.keywords.emplace_back("unsigned");
  TRY_ASSIGN(std::string counter, value_name());
  for (std::string_view before : {"=", "to", "step"}) {
    TRY(scanner_.expect(before));
    TRY_ASSIGN(ValueId bound, use());
    operation.operands.push_back(bound);
  }
  std::vector<std::string> carried;
  if (scanner_.accept("iter_args(")) {
    do {
      TRY_ASSIGN(std::string name, value_name());
      TRY(scanner_.expect("="));
      TRY_ASSIGN(ValueId initial, use());
      carried.push_back(name);
      operation.operands.push_back(initial);
    } while (scanner_.accept(","));
    TRY(scanner_.expect(")"));
    TRY(scanner_.expect("->"));
    TRY(parse_types(operation.result_types));
  }
  if (operation.result_types.size() != carried.size())
    return scanner_.error("scf.for: types and values differ in number");
  ValueType counter_type = scalar_of(Element::i32);
  if (scanner_.accept(":")) {
    TRY_ASSIGN(counter_type, parse_type(scanner_));
  }
  scopes_.emplace_back();
  std::vector<BlockArgument> arguments = {{define(counter), counter_type}};
  for (std::size_t i = 0; i < carried.size(); ++i)
    arguments.push_back({define(carried[i]), operation.result_types[i]});
  TRY_ASSIGN(Region body, parse_region(std::move(arguments)));
  scopes_.pop_back();
  operation.regions.push_back(std::move(body));
  return ok();
}

// scf.if %c [-> (types)] { ... } [else { ... }]
Status Parser::parse_if(Operation& operation) {
  TRY_ASSIGN(ValueId condition, use());
  operation.operands.push_back(condition);
  if (scanner_.accept("->")) TRY(parse_types(operation.result_types));
  do {
    TRY_ASSIGN(Region branch, parse_region());
    operation.regions.push_back(std::move(branch));
  } while (operation.regions.size() < 2 && scanner_.accept("else"));
  return ok();
}

// scf.while (%x = %y, ...) : (types) -> (types) { before } do { ^bb0(...): after }
Status Parser::parse_while(Operation& operation) {
  std::vector<std::string> carried;
  if (scanner_.accept("(") && !scanner_.accept(")")) {
    do {
      TRY_ASSIGN(std::string name, value_name());
      TRY(scanner_.expect("="));
      TRY_ASSIGN(ValueId initial, use());
      carried.push_back(name);
      operation.operands.push_back(initial);
    } while (scanner_.accept(","));
    TRY(scanner_.expect(")"));
  }
  TRY(scanner_.expect(":"));
  TRY(parse_types(operation.types));
  TRY(scanner_.expect("->"));
  TRY(parse_types(operation.result_types));
  if (operation.types.size() != carried.size())
    return scanner_.error("scf.while: types and values differ in number");
  scopes_.emplace_back();
  std::vector<BlockArgument> arguments;
  for (std::size_t i = 0; i < carried.size(); ++i)
    arguments.push_back({define(carried[i]), operation.types[i]});
  TRY_ASSIGN(Region before, parse_region(std::move(arguments)));
  scopes_.pop_back();
  operation.regions.push_back(std::move(before));
  TRY(scanner_.expect("do"));
  TRY_ASSIGN(Region after, parse_region());
  operation.regions.push_back(std::move(after));
  return ok();
}

// arith.constant [{attributes}] literal [: type]
Status Parser::parse_constant(Operation& operation) {
  if (scanner_.accept("{")) TRY(parse_attributes(operation));
  scanner_.skip_blanks();
  if (scanner_.looking_at("dense<")) {
    scanner_.advance(6);
    TRY_ASSIGN(operation.literal, scanner_.balanced());
    TRY(scanner_.expect(">"));
  } else {
    if (scanner_.looking_at("-")) {
      operation.literal += '-';
      scanner_.advance();
    }
    while (!scanner_.at_line_end() &&
           (std::isalnum(static_cast<unsigned char>(scanner_.peek())) != 0 ||
            scanner_.peek() == '.' || scanner_.peek() == '+' || scanner_.peek() == '-')) {
      operation.literal += scanner_.peek();
      scanner_.advance();
    }
  }
  if (scanner_.accept(":")) return parse_types(operation.result_types);
  operation.result_types.push_back(scalar_of(Element::i1));
  return ok();
}

Status Parser::parse_symbol(Operation& operation) {
  scanner_.advance();  // the @
  if (scanner_.peek() == '"') {
    TRY_ASSIGN(operation.symbol, scanner_.string());
  } else {
    operation.symbol = scanner_.word();
  }
  return ok();
}

// Reads all other operations: operands, words, attributes, brackets and commas in any order, then
// ": types -> types".
Status Parser::parse_loose(Operation& operation) {
  for (;;) {
    scanner_.skip_blanks();
    if (scanner_.at_line_end() || scanner_.looking_at("loc(") || scanner_.peek() == '}')
      return ok();
    if (operation.operands.size() > kMaxOperands || operation.keywords.size() > kMaxOperands)
      return scanner_.error("an operation is too long");
    switch (char c = scanner_.peek()) {
      case '%': {
        TRY_ASSIGN(ValueId operand, use());
        operation.operands.push_back(operand);
        break;
      }
      case ',':
      case '(':
      case ')':
      case '[':
      case ']':
      case '=':
        scanner_.advance();
        break;
      case '<':
        TRY(scanner_.expect("<{"));
        TRY(parse_attributes(operation));
        TRY(scanner_.expect(">"));
        break;
      case '{':
        scanner_.advance();
        TRY(parse_attributes(operation));
        break;
      case '"': {
        TRY_ASSIGN(operation.literal, scanner_.string());
        break;
      }
      case '@':
        TRY(parse_symbol(operation));
        break;
      case '^':
        TRY(parse_successor(operation));
        break;
      case ':': {
        scanner_.advance();
        scanner_.skip_blanks();
        if (scanner_.peek() == '%') break;  // tt.print lists its operands after a colon
        TRY(parse_signature(operation));
        break;
      }
      case '-':  // the results of an operation without operands
        if (scanner_.accept("->")) {
          TRY(parse_types(operation.result_types));
          break;
        }
        [[fallthrough]];
      default:
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '#')
          return scanner_.error(fmt::format("unexpected '{}' in {}", c, operation.name));
        TRY(parse_loose_word(operation));
    }
  }
}

// A keyword, or "key = value" as in `inputPrecision = tf32`.
Status Parser::parse_loose_word(Operation& operation) {
  if (scanner_.peek() == '-' || scanner_.peek() == '#') scanner_.advance();
  std::string word(scanner_.keyword());
  if (scanner_.accept("=")) {
    scanner_.skip_blanks();
    if (scanner_.peek() == '%') return ok();
    operation.attributes[word] = scanner_.keyword();
    return ok();
  }
  if (word.empty()) return scanner_.error(fmt::format("unexpected text in {}", operation.name));
  operation.keywords.push_back(std::move(word));
  return ok();
}

Status Parser::parse_operands(Operation& operation, std::string_view close) {
  if (scanner_.accept(close)) return ok();
  do {
    TRY_ASSIGN(ValueId operand, use());
    operation.operands.push_back(operand);
    if (operation.operands.size() > kMaxOperands) return scanner_.error("too many operands");
  } while (scanner_.accept(","));
  return scanner_.expect(close);
}

// After "{": key = value, key, ... }
Status Parser::parse_attributes(Operation& operation) {
  while (!scanner_.accept("}")) {
    scanner_.skip_blanks();
    std::string key;
    if (scanner_.peek() == '"') {
      TRY_ASSIGN(key, scanner_.string());
    } else {
      key = scanner_.word();
    }
    if (key.empty()) return scanner_.error("an attribute without a name");
    std::string value;
    if (scanner_.accept("=")) {
      TRY_ASSIGN(value, scanner_.balanced());
    }
    operation.attributes[key] = value;
    if (!scanner_.accept(",")) return scanner_.expect("}");
  }
  return ok();
}

// types [-> types | to types]; types are separated by ',' or '*', or stand in brackets.
Status Parser::parse_signature(Operation& operation) {
  TRY(parse_types(operation.types));
  scanner_.skip_blanks();
  if (scanner_.accept("->") || scanner_.accept("to ")) TRY(parse_types(operation.result_types));
  return ok();
}

Status Parser::parse_types(std::vector<ValueType>& into) {
  const bool bracketed = scanner_.accept("(");
  if (bracketed && scanner_.accept(")")) return ok();
  do {
    TRY_ASSIGN(ValueType type, parse_type(scanner_));
    into.push_back(std::move(type));
    if (into.size() > kMaxOperands) return scanner_.error("too many types");
  } while (scanner_.accept(",") || scanner_.accept("*"));
  if (bracketed) return scanner_.expect(")");
  return ok();
}

// ^bb1 or ^bb1(%x, %y : i32, f32)
Status Parser::parse_successor(Operation& operation) {
  TRY(scanner_.expect("^"));
  Successor successor{.label = std::string(scanner_.word())};
  if (scanner_.accept("(")) {
    do {
      TRY_ASSIGN(ValueId argument, use());
      successor.arguments.push_back(argument);
    } while (scanner_.accept(","));
    std::vector<ValueType> types;
    if (scanner_.accept(":")) TRY(parse_types(types));
    TRY(scanner_.expect(")"));
  }
  operation.successors.push_back(std::move(successor));
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
