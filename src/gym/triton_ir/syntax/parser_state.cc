#include "gym/triton_ir/syntax/parser_state.h"

namespace tritonsmith::gym::triton_ir {

Status ParserState::parse_location(int& into) {
  if (!scanner.accept("loc(")) return ok();
  TRY_ASSIGN(into, locations.parse_rest(scanner));
  return ok();
}

Result<std::string> ParserState::value_name() {
  TRY(scanner.expect("%"));
  std::string name(scanner.word());
  if (name.empty()) return scanner.error("a value without a name");
  return name;
}

ValueId ParserState::define(std::string_view name, int count) {
  ValueId first = result.value_count;
  result.value_count += count;
  scopes.back()[std::string(name)] = Named{.first = first, .count = count};
  return first;
}

Result<ValueId> ParserState::use() {
  TRY_ASSIGN(std::string name, value_name());
  std::int64_t index = 0;
  if (scanner.peek() == '#') {
    scanner.advance();
    index = scanner.integer().value_or(-1);
  }
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto found = scope->find(name);
    if (found == scope->end()) continue;
    if (index < 0 || index >= found->second.count) break;
    return found->second.first + static_cast<int>(index);
  }
  return scanner.error(fmt::format("%{} is not defined here", name.substr(0, 40)));
}

}  // namespace tritonsmith::gym::triton_ir
