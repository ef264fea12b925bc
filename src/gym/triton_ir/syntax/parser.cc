#include "gym/triton_ir/syntax/parser.h"

#include <algorithm>
#include <charconv>

#include "gym/triton_ir/syntax/parser_state.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::size_t kMaxText = 2u << 20;
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxFunctions = 256;
constexpr std::size_t kMaxBlocks = 1024;
constexpr int kMaxOperations = 200'000;
constexpr int kMaxValues = 1'000'000;

// %x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(...)
Status parse_function_argument(ParserState& state, Function& function) {
  TRY_ASSIGN(std::string name, state.value_name());
  TRY(state.scanner.expect(":"));
  BlockArgument argument;
  TRY_ASSIGN(argument.type, parse_type(state.scanner));
  Operation attributes;
  if (state.scanner.accept("{")) TRY(parse_attributes(state, attributes));
  int unused = 0;
  TRY(state.parse_location(unused));
  argument.value = state.define(name);
  function.arguments.push_back(argument);
  function.argument_divisors.push_back(
      std::max<std::int64_t>(attributes.integer_attribute("tt.divisibility").value_or(1), 1));
  function.argument_names.push_back(name);
  return ok();
}

// After "tt.func": [public|private] @name(arguments) [-> types] [attributes {...}] { body } loc
Status parse_function(ParserState& state) {
  if (state.result.functions.size() >= kMaxFunctions)
    return state.scanner.error("too many functions");
  Function function;
  function.is_public = state.scanner.accept("public");
  state.scanner.accept("private");
  TRY(state.scanner.expect("@"));
  if (state.scanner.peek() == '"') {
    TRY_ASSIGN(function.name, state.scanner.string());
  } else {
    function.name = state.scanner.word();
  }
  state.scopes.assign(1, ParserState::Scope{});
  TRY(state.scanner.expect("("));
  if (!state.scanner.accept(")")) {
    do {
      TRY(parse_function_argument(state, function));
    } while (state.scanner.accept(","));
    TRY(state.scanner.expect(")"));
  }
  if (state.scanner.accept("->")) TRY(parse_types(state, function.result_types));
  if (state.scanner.accept("attributes")) {
    Operation ignored;
    TRY(state.scanner.expect("{"));
    TRY(parse_attributes(state, ignored));
  }
  state.scanner.skip_blanks();
  if (state.scanner.looking_at("{")) {
    TRY_ASSIGN(function.body, parse_region(state, function.arguments));
  }
  TRY(state.parse_location(function.location));
  state.result.functions.push_back(std::move(function));
  return ok();
}

// After "module": [@name] [attributes {...}] {
Status parse_module_header(ParserState& state) {
  Operation ignored;
  if (state.scanner.accept("@")) state.scanner.word();
  if (state.scanner.accept("attributes")) {
    TRY(state.scanner.expect("{"));
    TRY(parse_attributes(state, ignored));
  }
  return state.scanner.expect("{");
}

// Parses a file's top level: `#loc` definitions, `module { ... } loc(...)`, functions.
Status parse_top(ParserState& state, int depth) {
  if (depth > kMaxDepth) return state.scanner.error("modules are nested too deeply");
  for (;;) {
    state.scanner.skip_lines();
    if (state.scanner.at_end())
      return depth == 0 ? ok() : Status(state.scanner.error("'}' is missing"));
    if (state.scanner.peek() == '#') {
      TRY(state.locations.parse_definition(state.scanner));
    } else if (state.scanner.accept("module")) {
      TRY(parse_module_header(state));
      TRY(parse_top(state, depth + 1));
      TRY(state.scanner.expect("}"));
      int unused = 0;
      TRY(state.parse_location(unused));
    } else if (state.scanner.accept("tt.func")) {
      TRY(parse_function(state));
    } else if (depth > 0 && state.scanner.peek() == '}') {
      return ok();
    } else {
      return state.scanner.error("neither a module nor a function");
    }
  }
}

// ^bb0(%a: f32 loc(...), %b: f32):
Status parse_block_header(ParserState& state, Block& block) {
  TRY(state.scanner.expect("^"));
  block.label = state.scanner.word();
  if (state.scanner.accept("(") && !state.scanner.accept(")")) {
    do {
      TRY_ASSIGN(std::string name, state.value_name());
      TRY(state.scanner.expect(":"));
      BlockArgument argument;
      TRY_ASSIGN(argument.type, parse_type(state.scanner));
      int unused = 0;
      TRY(state.parse_location(unused));
      argument.value = state.define(name);
      block.arguments.push_back(argument);
    } while (state.scanner.accept(","));
    TRY(state.scanner.expect(")"));
  }
  return state.scanner.expect(":");
}

}  // namespace

std::optional<std::int64_t> Operation::integer_attribute(const std::string& key) const {
  auto found = attributes.find(key);
  if (found == attributes.end()) return std::nullopt;
  const std::string& text = found->second;
  if (text.starts_with("true")) return 1;
  if (text.starts_with("false")) return 0;
  std::int64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{}) return std::nullopt;
  return value;
}

bool Operation::has_keyword(std::string_view keyword) const {
  return std::find(keywords.begin(), keywords.end(), keyword) != keywords.end();
}

// "{ operations }" or "{ ^bb0(...): operations ^bb1: ... }". The first block has `arguments`.
Result<Region> parse_region(ParserState& state, std::vector<BlockArgument> arguments) {
  if (++state.depth > kMaxDepth) return state.scanner.error("regions are nested too deeply");
  TRY(state.scanner.expect("{"));
  state.scopes.emplace_back();
  Region region;
  region.blocks.push_back(Block{.arguments = std::move(arguments)});
  for (;;) {
    state.scanner.skip_lines();
    if (state.scanner.accept("}")) break;
    if (state.scanner.peek() == '^') {
      Block& first = region.blocks.front();
      bool opens = region.blocks.size() == 1 && first.operations.empty() && first.label.empty();
      if (!opens) region.blocks.emplace_back();
      if (region.blocks.size() > kMaxBlocks) return state.scanner.error("too many blocks");
      TRY(parse_block_header(state, region.blocks.back()));
      continue;
    }
    if (state.scanner.at_end()) return state.scanner.error("'}' is missing");
    if (++state.operations > kMaxOperations || state.result.value_count > kMaxValues)
      return state.scanner.error("too many operations");
    TRY_ASSIGN(Operation operation, parse_operation(state));
    region.blocks.back().operations.push_back(std::move(operation));
  }
  state.scopes.pop_back();
  --state.depth;
  return region;
}

Result<Module> parse_module(std::string_view text) {
  if (text.size() > kMaxText) return fail("Triton IR of {} bytes is too long", text.size());
  ParserState state(text);
  TRY(parse_top(state, 0));
  int kernel = 0;
  for (const Function& function : state.result.functions)
    if (function.is_public) kernel = function.location;
  state.result.locations = state.locations.resolve(kernel);
  return std::move(state.result);
}

}  // namespace tritonsmith::gym::triton_ir
