#include <cctype>

#include "gym/triton_ir/syntax/parser_state.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::size_t kMaxOperands = 1024;
constexpr std::int64_t kMaxResults = 256;

// ^bb1 or ^bb1(%x, %y : i32, f32)
Status parse_successor(ParserState& state, Operation& operation) {
  TRY(state.scanner.expect("^"));
  Successor successor{.label = std::string(state.scanner.word())};
  if (state.scanner.accept("(")) {
    do {
      TRY_ASSIGN(ValueId argument, state.use());
      successor.arguments.push_back(argument);
    } while (state.scanner.accept(","));
    std::vector<ValueType> types;
    if (state.scanner.accept(":")) TRY(parse_types(state, types));
    TRY(state.scanner.expect(")"));
  }
  operation.successors.push_back(std::move(successor));
  return ok();
}

// types [-> types | to types]; types are separated by ',' or '*', or stand in brackets.
Status parse_signature(ParserState& state, Operation& operation) {
  TRY(parse_types(state, operation.types));
  state.scanner.skip_blanks();
  if (state.scanner.accept("->") || state.scanner.accept("to "))
    TRY(parse_types(state, operation.result_types));
  return ok();
}

Status parse_operands(ParserState& state, Operation& operation, std::string_view close) {
  if (state.scanner.accept(close)) return ok();
  do {
    TRY_ASSIGN(ValueId operand, state.use());
    operation.operands.push_back(operand);
    if (operation.operands.size() > kMaxOperands) return state.scanner.error("too many operands");
  } while (state.scanner.accept(","));
  return state.scanner.expect(close);
}

// "name"(operands) [successors] <{properties}> ({region}, {region}) {attributes} : (types) -> types
Status parse_generic(ParserState& state, Operation& operation) {
  TRY(state.scanner.expect("("));
  TRY(parse_operands(state, operation, ")"));
  if (state.scanner.accept("[")) {
    do TRY(parse_successor(state, operation));
    while (state.scanner.accept(","));
    TRY(state.scanner.expect("]"));
  }
  if (state.scanner.accept("<{")) {
    TRY(parse_attributes(state, operation));
    TRY(state.scanner.expect(">"));
  }
  if (state.scanner.accept("(")) {
    do {
      TRY_ASSIGN(Region region, parse_region(state));
      operation.regions.push_back(std::move(region));
    } while (state.scanner.accept(","));
    TRY(state.scanner.expect(")"));
  }
  if (state.scanner.accept("{")) TRY(parse_attributes(state, operation));
  TRY(state.scanner.expect(":"));
  return parse_signature(state, operation);
}

// scf.for [unsigned] %i = %a to %b step %c [iter_args(%x = %y, ...) -> (types)] [: type] { body }
// Operands: lower, upper, step, initial values. Block arguments: the counter, then the carried
// values.
Status parse_for(ParserState& state, Operation& operation) {
  if (state.scanner.accept("unsigned")) operation.keywords.emplace_back("unsigned");
  TRY_ASSIGN(std::string counter, state.value_name());
  for (std::string_view before : {"=", "to", "step"}) {
    TRY(state.scanner.expect(before));
    TRY_ASSIGN(ValueId bound, state.use());
    operation.operands.push_back(bound);
  }
  std::vector<std::string> carried;
  if (state.scanner.accept("iter_args(")) {
    do {
      TRY_ASSIGN(std::string name, state.value_name());
      TRY(state.scanner.expect("="));
      TRY_ASSIGN(ValueId initial, state.use());
      carried.push_back(name);
      operation.operands.push_back(initial);
    } while (state.scanner.accept(","));
    TRY(state.scanner.expect(")"));
    TRY(state.scanner.expect("->"));
    TRY(parse_types(state, operation.result_types));
  }
  if (operation.result_types.size() != carried.size())
    return state.scanner.error("scf.for: types and values differ in number");
  ValueType counter_type = scalar_of(Element::i32);
  if (state.scanner.accept(":")) {
    TRY_ASSIGN(counter_type, parse_type(state.scanner));
  }
  state.scopes.emplace_back();
  std::vector<BlockArgument> arguments = {{state.define(counter), counter_type}};
  for (std::size_t i = 0; i < carried.size(); ++i)
    arguments.push_back({state.define(carried[i]), operation.result_types[i]});
  TRY_ASSIGN(Region body, parse_region(state, std::move(arguments)));
  state.scopes.pop_back();
  operation.regions.push_back(std::move(body));
  return ok();
}

// scf.if %c [-> (types)] { ... } [else { ... }]
Status parse_if(ParserState& state, Operation& operation) {
  TRY_ASSIGN(ValueId condition, state.use());
  operation.operands.push_back(condition);
  if (state.scanner.accept("->")) TRY(parse_types(state, operation.result_types));
  do {
    TRY_ASSIGN(Region branch, parse_region(state));
    operation.regions.push_back(std::move(branch));
  } while (operation.regions.size() < 2 && state.scanner.accept("else"));
  return ok();
}

// scf.while (%x = %y, ...) : (types) -> (types) { before } do { ^bb0(...): after }
Status parse_while(ParserState& state, Operation& operation) {
  std::vector<std::string> carried;
  if (state.scanner.accept("(") && !state.scanner.accept(")")) {
    do {
      TRY_ASSIGN(std::string name, state.value_name());
      TRY(state.scanner.expect("="));
      TRY_ASSIGN(ValueId initial, state.use());
      carried.push_back(name);
      operation.operands.push_back(initial);
    } while (state.scanner.accept(","));
    TRY(state.scanner.expect(")"));
  }
  TRY(state.scanner.expect(":"));
  TRY(parse_types(state, operation.types));
  TRY(state.scanner.expect("->"));
  TRY(parse_types(state, operation.result_types));
  if (operation.types.size() != carried.size())
    return state.scanner.error("scf.while: types and values differ in number");
  state.scopes.emplace_back();
  std::vector<BlockArgument> arguments;
  for (std::size_t i = 0; i < carried.size(); ++i)
    arguments.push_back({state.define(carried[i]), operation.types[i]});
  TRY_ASSIGN(Region before, parse_region(state, std::move(arguments)));
  state.scopes.pop_back();
  operation.regions.push_back(std::move(before));
  TRY(state.scanner.expect("do"));
  TRY_ASSIGN(Region after, parse_region(state));
  operation.regions.push_back(std::move(after));
  return ok();
}

// arith.constant [{attributes}] literal [: type]
Status parse_constant(ParserState& state, Operation& operation) {
  if (state.scanner.accept("{")) TRY(parse_attributes(state, operation));
  state.scanner.skip_blanks();
  if (state.scanner.looking_at("dense<")) {
    state.scanner.advance(6);
    TRY_ASSIGN(operation.literal, state.scanner.balanced());
    TRY(state.scanner.expect(">"));
  } else {
    if (state.scanner.looking_at("-")) {
      operation.literal += '-';
      state.scanner.advance();
    }
    while (!state.scanner.at_line_end() &&
           (std::isalnum(static_cast<unsigned char>(state.scanner.peek())) != 0 ||
            state.scanner.peek() == '.' || state.scanner.peek() == '+' ||
            state.scanner.peek() == '-')) {
      operation.literal += state.scanner.peek();
      state.scanner.advance();
    }
  }
  if (state.scanner.accept(":")) return parse_types(state, operation.result_types);
  operation.result_types.push_back(scalar_of(Element::i1));
  return ok();
}

Status parse_symbol(ParserState& state, Operation& operation) {
  state.scanner.advance();  // the @
  if (state.scanner.peek() == '"') {
    TRY_ASSIGN(operation.symbol, state.scanner.string());
  } else {
    operation.symbol = state.scanner.word();
  }
  return ok();
}

// A keyword, or "key = value" as in `inputPrecision = tf32`.
Status parse_loose_word(ParserState& state, Operation& operation) {
  if (state.scanner.peek() == '-' || state.scanner.peek() == '#') state.scanner.advance();
  std::string word(state.scanner.keyword());
  if (state.scanner.accept("=")) {
    state.scanner.skip_blanks();
    if (state.scanner.peek() == '%') return ok();
    operation.attributes[word] = state.scanner.keyword();
    return ok();
  }
  if (word.empty())
    return state.scanner.error(fmt::format("unexpected text in {}", operation.name));
  operation.keywords.push_back(std::move(word));
  return ok();
}

// Reads all other operations: operands, words, attributes, brackets and commas in any order, then
// ": types -> types".
Status parse_loose(ParserState& state, Operation& operation) {
  for (;;) {
    state.scanner.skip_blanks();
    if (state.scanner.at_line_end() || state.scanner.looking_at("loc(") ||
        state.scanner.peek() == '}')
      return ok();
    if (operation.operands.size() > kMaxOperands || operation.keywords.size() > kMaxOperands)
      return state.scanner.error("an operation is too long");
    switch (char c = state.scanner.peek()) {
      case '%': {
        TRY_ASSIGN(ValueId operand, state.use());
        operation.operands.push_back(operand);
        break;
      }
      case ',':
      case '(':
      case ')':
      case '[':
      case ']':
      case '=':
        state.scanner.advance();
        break;
      case '<':
        TRY(state.scanner.expect("<{"));
        TRY(parse_attributes(state, operation));
        TRY(state.scanner.expect(">"));
        break;
      case '{':
        state.scanner.advance();
        TRY(parse_attributes(state, operation));
        break;
      case '"': {
        TRY_ASSIGN(operation.literal, state.scanner.string());
        break;
      }
      case '@':
        TRY(parse_symbol(state, operation));
        break;
      case '^':
        TRY(parse_successor(state, operation));
        break;
      case ':': {
        state.scanner.advance();
        state.scanner.skip_blanks();
        if (state.scanner.peek() == '%') break;  // tt.print lists its operands after a colon
        TRY(parse_signature(state, operation));
        break;
      }
      case '-':  // the results of an operation without operands
        if (state.scanner.accept("->")) {
          TRY(parse_types(state, operation.result_types));
          break;
        }
        [[fallthrough]];
      default:
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '#')
          return state.scanner.error(fmt::format("unexpected '{}' in {}", c, operation.name));
        TRY(parse_loose_word(state, operation));
    }
  }
}

// [{attributes}] [loc(...)] newline
Status parse_tail(ParserState& state, Operation& operation) {
  if (state.scanner.accept("{")) TRY(parse_attributes(state, operation));
  TRY(state.parse_location(operation.location));
  state.scanner.skip_blanks();
  if (!state.scanner.at_line_end() && state.scanner.peek() != '}')
    return state.scanner.error(fmt::format("unexpected text after {}", operation.name));
  return ok();
}

}  // namespace

Status parse_attributes(ParserState& state, Operation& operation) {
  while (!state.scanner.accept("}")) {
    state.scanner.skip_blanks();
    std::string key;
    if (state.scanner.peek() == '"') {
      TRY_ASSIGN(key, state.scanner.string());
    } else {
      key = state.scanner.word();
    }
    if (key.empty()) return state.scanner.error("an attribute without a name");
    std::string value;
    if (state.scanner.accept("=")) {
      TRY_ASSIGN(value, state.scanner.balanced());
    }
    operation.attributes[key] = value;
    if (!state.scanner.accept(",")) return state.scanner.expect("}");
  }
  return ok();
}

Status parse_types(ParserState& state, std::vector<ValueType>& into) {
  const bool bracketed = state.scanner.accept("(");
  if (bracketed && state.scanner.accept(")")) return ok();
  do {
    TRY_ASSIGN(ValueType type, parse_type(state.scanner));
    into.push_back(std::move(type));
    if (into.size() > kMaxOperands) return state.scanner.error("too many types");
  } while (state.scanner.accept(",") || state.scanner.accept("*"));
  if (bracketed) return state.scanner.expect(")");
  return ok();
}

// Grammar: [results =] name ... [loc(...)], up to the end of its last bracket's line.
Result<Operation> parse_operation(ParserState& state) {
  Operation operation;
  std::vector<std::pair<std::string, int>> names;
  state.scanner.skip_blanks();
  if (state.scanner.peek() == '%') {
    do {
      TRY_ASSIGN(std::string name, state.value_name());
      std::int64_t count = state.scanner.accept(":") ? state.scanner.integer().value_or(0) : 1;
      if (count < 1 || count > kMaxResults) return state.scanner.error("a bad number of results");
      names.emplace_back(name, static_cast<int>(count));
      if (names.size() > kMaxOperands) return state.scanner.error("too many results");
    } while (state.scanner.accept(","));
    TRY(state.scanner.expect("="));
    state.scanner.skip_blanks();
  }
  if (state.scanner.peek() == '"') {
    TRY_ASSIGN(operation.name, state.scanner.string());
    TRY(parse_generic(state, operation));
  } else {
    operation.name = state.scanner.keyword();
    if (operation.name.empty()) return state.scanner.error("an operation was expected");
    if (operation.name == "scf.for")
      TRY(parse_for(state, operation));
    else if (operation.name == "scf.if")
      TRY(parse_if(state, operation));
    else if (operation.name == "scf.while")
      TRY(parse_while(state, operation));
    else if (operation.name == "arith.constant")
      TRY(parse_constant(state, operation));
    else
      TRY(parse_loose(state, operation));
  }
  TRY(parse_tail(state, operation));
  // Results become visible only now, because a region's own values may have the same names.
  for (const auto& [name, count] : names) {
    ValueId first = state.define(name, count);
    for (int i = 0; i < count; ++i) operation.results.push_back(first + i);
  }
  return operation;
}

}  // namespace tritonsmith::gym::triton_ir
