#include "curriculum/program.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tritonsmith::curriculum {
namespace {

std::size_t product(const std::vector<int>& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>());
}

bool adds_weight_to_product(const Program& program, const Expression& tree) {
  if (tree.op == Op::add && tree.children[0].op == Op::matmul && tree.children[1].op == Op::input)
    return program.inputs[static_cast<std::size_t>(tree.children[1].input)].source ==
           Source::parameter;
  return std::any_of(tree.children.begin(), tree.children.end(), [&](const Expression& child) {
    return adds_weight_to_product(program, child);
  });
}

}  // namespace

bool has_linear_bias(const Program& program) {
  return program.linear && adds_weight_to_product(program, program.root);
}

std::vector<int> dimensions(const Input& input, const Sizes& sizes) {
  std::vector<int> dims = sizes.lead;
  switch (input.shape) {
    case InputShape::full:
      dims.push_back(sizes.n);
      return dims;
    case InputShape::row:
      return {sizes.n};
    case InputShape::column:
      dims.push_back(1);
      return dims;
    case InputShape::left:
      dims.push_back(sizes.k);
      return dims;
    case InputShape::matrix:
      return {sizes.k, sizes.n};
  }
  return dims;
}

std::size_t total_elements(const Program& program, const Sizes& sizes) {
  std::size_t total = product(sizes.lead);
  if (program.family != Family::reduction) total *= static_cast<std::size_t>(sizes.n);
  for (const Input& input : program.inputs) total += product(dimensions(input, sizes));
  return total;
}

}  // namespace tritonsmith::curriculum
