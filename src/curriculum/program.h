// Program: the computation of one curriculum task, ready to be written as PyTorch or as Triton. It
// is an expression over named inputs. Sizes hold the sizes of one run.
#pragma once

#include <string>
#include <vector>

#include "base/enum_names.h"
#include "curriculum/expression.h"
#include "data/task.h"

namespace tritonsmith::curriculum {

enum class Family { elementwise, reduction, softmax, norm, matmul };

// Shapes. lead stands for all dimensions but the last (one or several), n for the last.
enum class InputShape {
  full,    // [lead.., n]
  row,     // [n], broadcast over the rows
  column,  // [lead.., 1], broadcast along a row
  left,    // [m, k], the left operand of matmul
  matrix,  // [k, n], the right operand of matmul
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
  // Shape of a reduction's result: [lead.., 1] if true, else [lead..].
  bool keepdim = false;
  // The matmul is an nn.Linear, whose matrix "linear.weight" is stored as [n, k].
  bool linear = false;
};

// Tells whether the weight that is added right after the product belongs to the nn.Linear.
bool has_linear_bias(const Program& program);

// Returns the shape of an input, for example {16, 512}.
std::vector<int> dimensions(const Input& input, const Sizes& sizes);
// Returns the number of elements of all inputs and the output together.
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
