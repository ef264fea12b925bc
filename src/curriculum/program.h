// Program: what one curriculum task computes, ready to be written as PyTorch or as Triton: an
// expression over named inputs, and the sizes it runs at.
#pragma once

#include <string>
#include <vector>

#include "base/enum_names.h"
#include "curriculum/expression.h"
#include "data/task.h"

namespace tritonsmith::curriculum {

enum class Family { elementwise, reduction, softmax, norm, matmul };

// Shapes, with lead = all dimensions but the last (one number or several), n = the last.
enum class InputShape {
  full,    // [lead.., n]
  row,     // [n], broadcast over the rows
  column,  // [lead.., 1], broadcast along a row
  left,    // [m, k], what matmul takes
  matrix,  // [k, n], what matmul multiplies by
};

enum class Draw { normal, uniform };  // torch.randn, torch.rand

// An argument is passed to forward; a parameter is a weight of the module.
enum class Source { argument, parameter };

struct Input {
  std::string name;
  InputShape shape = InputShape::full;
  Draw draw = Draw::normal;
  Source source = Source::argument;
  bool operator==(const Input&) const = default;
};

struct Sizes {
  std::vector<int> lead;  // [m] or [batch, m]; empty for one-dimensional inputs
  int n = 1;
  int k = 0;  // matmul only
  bool operator==(const Sizes&) const = default;
};

struct Program {
  Family family = Family::elementwise;
  std::vector<Input> inputs;
  Expression root;
  // How a reduction returns its values: [lead..] or [lead.., 1].
  bool keepdim = false;
  // Matmul by an nn.Linear: the matrix is stored as [n, k] under "linear.weight".
  bool linear = false;
};

// The weight added right after the product belongs to the nn.Linear.
bool has_linear_bias(const Program& program);

// The shape of an input as code writes it: {16, 512}.
std::vector<int> dimensions(const Input& input, const Sizes& sizes);
// Elements of all inputs and the output.
std::size_t total_elements(const Program& program, const Sizes& sizes);

}  // namespace tritonsmith::curriculum

namespace tritonsmith {
template <>
inline constexpr auto enum_names<curriculum::Family> =
    names<curriculum::Family>({{curriculum::Family::elementwise, "elementwise"},
                               {curriculum::Family::reduction, "reduction"},
                               {curriculum::Family::softmax, "softmax"},
                               {curriculum::Family::norm, "norm"},
                               {curriculum::Family::matmul, "matmul"}});
}  // namespace tritonsmith
