// Syntax: parsed Triton IR, before the meaning of its operations is known. One loose form holds
// every operation: operands in written order, keywords, attributes as text, types, regions and
// successors. Values are numbers, because the parser has resolved names and scopes. Pure data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gym/triton_ir/syntax/value_type.h"

namespace tritonsmith::gym::triton_ir {

using ValueId = int;

// A position in the candidate's source. Line 0: unknown.
struct SourceLine {
  int line = 0;
  int column = 0;
  bool operator==(const SourceLine&) const = default;
};

struct Region;

struct Successor {
  std::string label;               // "bb1"
  std::vector<ValueId> arguments;  // values for the block's arguments
};

struct Operation {
  std::string name;  // "arith.addf"
  std::vector<ValueId> results;
  std::vector<ValueId> operands;
  std::vector<std::string> keywords;              // "slt", "relaxed", "x"
  std::map<std::string, std::string> attributes;  // {"axis", "1 : i32"}
  std::string literal;                            // of arith.constant or a string: the text
  std::string symbol;                             // the callee of tt.call
  std::vector<ValueType> types;                   // after ':', before any arrow
  std::vector<ValueType> result_types;            // after '->' or 'to'
  std::vector<Region> regions;
  std::vector<Successor> successors;
  int location = 0;  // index into Module::locations

  // Returns an attribute's leading integer: 1 for "1 : i32".
  std::optional<std::int64_t> integer_attribute(const std::string& key) const;
  bool has_keyword(std::string_view keyword) const;
};

struct BlockArgument {
  ValueId value = 0;
  ValueType type;
};

struct Block {
  std::string label;  // empty for a first block without a written label
  std::vector<BlockArgument> arguments;
  std::vector<Operation> operations;
};

struct Region {
  std::vector<Block> blocks;
};

struct Function {
  std::string name;
  bool is_public = false;
  std::vector<BlockArgument> arguments;
  std::vector<std::string> argument_names;
  // For each argument, the number by which it must be divisible: a whole number itself, and a pointer
  // in bytes. It is 1 for all others.
  std::vector<std::int64_t> argument_divisors;
  std::vector<ValueType> result_types;
  Region body;
  int location = 0;
};

struct Module {
  std::vector<Function> functions;
  std::vector<SourceLine> locations;  // resolved; index 0 is the unknown position
  int value_count = 0;
};

}  // namespace tritonsmith::gym::triton_ir
