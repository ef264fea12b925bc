#include "curriculum/program.h"

#include <functional>
#include <numeric>

namespace tritonsmith::curriculum {
namespace {

std::size_t product(const std::vector<int>& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace

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
