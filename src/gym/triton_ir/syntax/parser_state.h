// ParserState: what one run of parse_module has read so far, and the names that are visible where it
// reads. The functions of the grammar share it: parser.cc (modules, functions, regions, blocks),
// parse_operation.cc (operations) and parse_type.cc (types). It lives on parse_module's stack.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gym/triton_ir/syntax/location.h"
#include "gym/triton_ir/syntax/scanner.h"
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

struct ParserState {
  explicit ParserState(std::string_view text) : scanner(text) {}

  // Gives a name of the innermost scope to `count` new values, and returns the first of them.
  ValueId define(std::string_view name, int count = 1);
  // Reads the use of a value, such as "%x_5" or "%acc#1".
  Result<ValueId> use();
  // Reads a name such as "%x_5" and returns it without the percent sign.
  Result<std::string> value_name();
  // Reads "loc(...)" if it is there.
  Status parse_location(int& into);

  struct Named {
    ValueId first = 0;
    int count = 1;
  };
  using Scope = std::map<std::string, Named, std::less<>>;

  Scanner scanner;
  Module result;
  LocationTable locations;
  std::vector<Scope> scopes;  // the innermost last
  int depth = 0;              // of nested regions
  int operations = 0;
};

Result<Region> parse_region(ParserState& state, std::vector<BlockArgument> arguments = {});
Result<Operation> parse_operation(ParserState& state);
// After "{": key = value, key, ... }
Status parse_attributes(ParserState& state, Operation& operation);
// Types stand in brackets, or are separated by ',' or '*'.
Status parse_types(ParserState& state, std::vector<ValueType>& into);
Result<ValueType> parse_type(Scanner& scanner);

}  // namespace tritonsmith::gym::triton_ir
