// Parser: the state of one run of parse_module. The sources that divide the grammar share it:
// parser.cc (modules, functions, regions, blocks), parse_operation.cc (operations) and
// parse_type.cc (types). It lives on parse_module's stack.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gym/triton_ir/syntax/location.h"
#include "gym/triton_ir/syntax/scanner.h"
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

Result<ValueType> parse_type(Scanner& scanner);

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) {}
  Result<Module> parse();

 private:
  struct Named {
    ValueId first = 0;
    int count = 1;
  };
  using Scope = std::map<std::string, Named, std::less<>>;

  // parser.cc
  Status parse_top(int depth);
  Status parse_module_header();
  Status parse_function();
  Status parse_function_argument(Function& function);
  Result<Region> parse_region(std::vector<BlockArgument> arguments = {});
  Status parse_block_header(Block& block);
  Status parse_location(int& into);
  ValueId define(std::string_view name, int count = 1);
  Result<ValueId> use();
  Result<std::string> value_name();

  // parse_operation.cc
  Result<Operation> parse_operation();
  Status parse_generic(Operation& operation);
  Status parse_for(Operation& operation);
  Status parse_if(Operation& operation);
  Status parse_while(Operation& operation);
  Status parse_constant(Operation& operation);
  Status parse_symbol(Operation& operation);
  Status parse_loose(Operation& operation);
  Status parse_loose_word(Operation& operation);
  Status parse_tail(Operation& operation);
  Status parse_operands(Operation& operation, std::string_view close);
  Status parse_attributes(Operation& operation);
  Status parse_signature(Operation& operation);
  Status parse_types(std::vector<ValueType>& into);
  Status parse_successor(Operation& operation);

  Scanner scanner_;
  Module module_;
  LocationTable locations_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
  int operations_ = 0;
};

}  // namespace tritonsmith::gym::triton_ir
