// Writes the text of each operator in a kernel. An elementwise operator is one line. A row operator
// has passes over a row, each of which leaves one number (a sum, max or min), and a result that
// uses these numbers.
#pragma once

#include <string>
#include <vector>

#include "curriculum/listing.h"

namespace tritonsmith::curriculum {

// For example "tl.maximum({x}, 0)", with {x}, {y} for operands and {0}, {1} for constants.
std::string_view triton_form(Op op);

enum class Gather { sum, max, min };

struct RowPass {
  std::string name;  // the name of the number that the pass leaves: "mean"
  Gather gather = Gather::sum;
  std::string element;  // in terms of {x} and the numbers {a}, {b} of earlier passes
  std::string finish;   // in terms of the gathered number {s}: "{s} / {n}"; empty: {s} itself
};

struct RowForm {
  std::vector<RowPass> passes;  // {a} is the number of the first pass, {b} that of the second
  std::string result;           // in terms of {x}, {a}, {b}, {n} and the constant {0}
};

const RowForm& row_form(Op op);

// Returns the identity of a gather, which replaces masked elements.
std::string_view neutral(Gather gather);
std::string_view gather_name(Gather gather);

// Replaces every "{what}" by `with`.
std::string substitute(std::string text, std::string_view what, std::string_view with);

}  // namespace tritonsmith::curriculum
