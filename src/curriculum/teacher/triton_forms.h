// Triton forms: how each operator is written in a kernel. Elementwise operators are one line; row
// operators are passes over a row (each a sum, max or min that leaves one number) and what is made
// of them.
#pragma once

#include <string>
#include <vector>

#include "curriculum/listing.h"

namespace tritonsmith::curriculum {

// "tl.maximum({x}, 0)", with {x}, {y} for operands and {0}, {1} for constants.
std::string_view triton_form(Op op);

enum class Gather { sum, max, min };

struct RowPass {
  std::string name;  // of the number it leaves, in words: "mean"
  Gather gather = Gather::sum;
  std::string element;  // of {x} and the numbers {a}, {b} of the passes before
  std::string finish;   // of the gathered number {s}: "{s} / {n}"; empty: as it is
};

struct RowForm {
  std::vector<RowPass> passes;  // {a} is what the first leaves, {b} the second
  std::string result;           // of {x}, {a}, {b}, {n} and the constant {0}
};

const RowForm& row_form(Op op);

// The identity of a gather: what masked elements count as.
std::string_view neutral(Gather gather);
std::string_view gather_name(Gather gather);

// Replaces every "{what}" by `with`.
std::string substitute(std::string text, std::string_view what, std::string_view with);

}  // namespace tritonsmith::curriculum
