// Listing: an expression as straight-line code, with one operator a line. Each line puts its result
// into a variable. The writers of PyTorch and of Triton both start from it.
#pragma once

#include <string>
#include <vector>

#include "curriculum/expression.h"

namespace tritonsmith::curriculum {

struct Line {
  std::string target;
  Op op = Op::input;
  Constants constants;
  std::vector<std::string> operands;
};

struct Listing {
  std::vector<Line> lines;
  std::string result;  // the variable with the final value
};

// Lists the operators of a tree. Input i is the variable inputs[i], and `core` is the result of the
// row operator. A result overwrites its first operand if no later line needs that operand ("x =
// relu(x)"). Otherwise it gets a variable of its own. Attributes ("self.weight") are never assigned
// to.
Listing list_operators(const Expression& tree, const std::vector<std::string>& inputs,
                       const std::string& core);

// Replaces {x} and {y} by the operands, and {0} and {1} by the constants.
std::string fill_in(std::string_view pattern, const Line& line);

}  // namespace tritonsmith::curriculum
