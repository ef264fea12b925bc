#include "curriculum/zoo/value.h"

#include <algorithm>

namespace tritonsmith::curriculum::zoo {

std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const int size : shape) count *= size;
  return count;
}

Layout channels_layout(int space) {
  return space == 1 ? Layout::signal : space == 2 ? Layout::image : Layout::volume;
}

Layout plain_layout(std::size_t rank) {
  return rank == 2 ? Layout::rows : rank == 3 ? Layout::sequence : Layout::other;
}

Shape broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const int left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) return {};
    result[rank - 1 - i] = std::max(left, right);
  }
  return result;
}

}  // namespace tritonsmith::curriculum::zoo
