// Listing: an expression as straight-line code, one operator a line, each result in a variable.
// Both PyTorch and Triton are written from it.
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
  std::string result;  // the variable that holds the value
};

// Attributes ("self.weight") are never assigned to. Input i is the variable inputs[i]; what a row
// operator left is in `core`. A result takes the place of its first operand where nobody needs that
// any more ("x = relu(x)"), else a variable of its own.
Listing list_operators(const Expression& tree, const std::vector<std::string>& inputs,
                       const std::string& core);

// Replaces {x}, {y} by the operands and {0}, {1} by the constants.
std::string fill_in(std::string_view pattern, const Line& line);

}  // namespace tritonsmith::curriculum
