#include "gym/triton_ir/syntax/parser.h"

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

Result<Module> parse_module(std::string_view text) {
  if (text.size() > kMaxText) return fail("Triton IR of {} bytes is too long", text.size());
  return Parser(text).parse();
}

Result<Module> Parser::parse() {
  TRY(parse_top(0));
  int kernel = 0;
  for (const Function& function : module_.functions)
    if (function.is_public) kernel = function.location;
  module_.locations = locations_.resolve(kernel);
  return std::move(module_);
}

// Parses a file's top level: `#loc` definitions, `module { ... } loc(...)`, functions.
Status Parser::parse_top(int depth) {
  if (depth > kMaxDepth) return scanner_.error("modules are nested too deeply");
  for (;;) {
    scanner_.skip_lines();
    if (scanner_.at_end()) return depth == 0 ? ok() : Status(scanner_.error("'}' is missing"));
    if (scanner_.peek() == '#') {
      TRY(locations_.parse_definition(scanner_));
    } else if (scanner_.accept("module")) {
      TRY(parse_module_header());
      TRY(parse_top(depth + 1));
      TRY(scanner_.expect("}"));
      int unused = 0;
      TRY(parse_location(unused));
    } else if (scanner_.accept("tt.func")) {
      TRY(parse_function());
    } else if (depth > 0 && scanner_.peek() == '}') {
      return ok();
    } else {
      return scanner_.error("neither a module nor a function");
    }
  }
}

// After "module": [@name] [attributes {...}] {
Status Parser::parse_module_header() {
  Operation ignored;
  if (scanner_.accept("@")) scanner_.word();
  if (scanner_.accept("attributes")) {
    TRY(scanner_.expect("{"));
    TRY(parse_attributes(ignored));
  }
  return scanner_.expect("{");
}

Status Parser::parse_location(int& into) {
  if (!scanner_.accept("loc(")) return ok();
  TRY_ASSIGN(into, locations_.parse_rest(scanner_));
  return ok();
}

// After "tt.func": [public|private] @name(arguments) [-> types] [attributes {...}] { body } loc
Status Parser::parse_function() {
  if (module_.functions.size() >= kMaxFunctions) return scanner_.error("too many functions");
  Function function;
  function.is_public = scanner_.accept("public");
  scanner_.accept("private");
  TRY(scanner_.expect("@"));
  if (scanner_.peek() == '"') {
    TRY_ASSIGN(function.name, scanner_.string());
  } else {
    function.name = scanner_.word();
  }
  scopes_.assign(1, Scope{});
  TRY(scanner_.expect("("));
  if (!scanner_.accept(")")) {
    do {
      TRY(parse_function_argument(function));
    } while (scanner_.accept(","));
    TRY(scanner_.expect(")"));
  }
  if (scanner_.accept("->")) TRY(parse_types(function.result_types));
  if (scanner_.accept("attributes")) {
    Operation ignored;
    TRY(scanner_.expect("{"));
    TRY(parse_attributes(ignored));
  }
  scanner_.skip_blanks();
  if (scanner_.looking_at("{")) {
    TRY_ASSIGN(function.body, parse_region(function.arguments));
  }
  TRY(parse_location(function.location));
  module_.functions.push_back(std::move(function));
  return ok();
}

// %x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(...)
Status Parser::parse_function_argument(Function& function) {
  TRY_ASSIGN(std::string name, value_name());
  TRY(scanner_.expect(":"));
  BlockArgument argument;
  TRY_ASSIGN(argument.type, parse_type(scanner_));
  if (scanner_.accept("{")) {
    Operation ignored;
    TRY(parse_attributes(ignored));
  }
  int unused = 0;
  TRY(parse_location(unused));
  argument.value = define(name);
  function.arguments.push_back(argument);
  function.argument_names.push_back(name);
  return ok();
}

// "{ operations }" or "{ ^bb0(...): operations ^bb1: ... }". The first block has `arguments`.
Result<Region> Parser::parse_region(std::vector<BlockArgument> arguments) {
  if (++depth_ > kMaxDepth) return scanner_.error("regions are nested too deeply");
  TRY(scanner_.expect("{"));
  scopes_.emplace_back();
  Region region;
  region.blocks.push_back(Block{.arguments = std::move(arguments)});
  for (;;) {
    scanner_.skip_lines();
    if (scanner_.accept("}")) break;
    if (scanner_.peek() == '^') {
      Block& first = region.blocks.front();
      bool opens = region.blocks.size() == 1 && first.operations.empty() && first.label.empty();
      if (!opens) region.blocks.emplace_back();
      if (region.blocks.size() > kMaxBlocks) return scanner_.error("too many blocks");
      TRY(parse_block_header(region.blocks.back()));
      continue;
    }
    if (scanner_.at_end()) return scanner_.error("'}' is missing");
    if (++operations_ > kMaxOperations || module_.value_count > kMaxValues)
      return scanner_.error("too many operations");
    TRY_ASSIGN(Operation operation, parse_operation());
    region.blocks.back().operations.push_back(std::move(operation));
  }
  scopes_.pop_back();
  --depth_;
  return region;
}

// ^bb0(%a: f32 loc(...), %b: f32):
Status Parser::parse_block_header(Block& block) {
  TRY(scanner_.expect("^"));
  block.label = scanner_.word();
  if (scanner_.accept("(") && !scanner_.accept(")")) {
    do {
      TRY_ASSIGN(std::string name, value_name());
      TRY(scanner_.expect(":"));
      BlockArgument argument;
      TRY_ASSIGN(argument.type, parse_type(scanner_));
      int unused = 0;
      TRY(parse_location(unused));
      argument.value = define(name);
      block.arguments.push_back(argument);
    } while (scanner_.accept(","));
    TRY(scanner_.expect(")"));
  }
  return scanner_.expect(":");
}

// Reads a name such as "%x_5" and returns it without the percent sign.
Result<std::string> Parser::value_name() {
  TRY(scanner_.expect("%"));
  std::string name(scanner_.word());
  if (name.empty()) return scanner_.error("a value without a name");
  return name;
}

ValueId Parser::define(std::string_view name, int count) {
  ValueId first = module_.value_count;
  module_.value_count += count;
  scopes_.back()[std::string(name)] = Named{.first = first, .count = count};
  return first;
}

// Reads the use of a value, such as "%x_5" or "%acc#1".
Result<ValueId> Parser::use() {
  TRY_ASSIGN(std::string name, value_name());
  std::int64_t index = 0;
  if (scanner_.peek() == '#') {
    scanner_.advance();
    index = scanner_.integer().value_or(-1);
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto found = scope->find(name);
    if (found == scope->end()) continue;
    if (index < 0 || index >= found->second.count) break;
    return found->second.first + static_cast<int>(index);
  }
  return scanner_.error(fmt::format("%{} is not defined here", name.substr(0, 40)));
}

}  // namespace tritonsmith::gym::triton_ir
