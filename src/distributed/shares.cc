#include "distributed/shares.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tritonsmith::distributed {

// Takes the costliest member first and gives it to the rank with the least cost so far. The largest
// load is at most 4/3 of the optimum (Graham 1969).
std::vector<std::size_t> share_of(std::span<const std::size_t> members,
                                  std::span<const std::int64_t> costs, int rank, int size) {
  CHECK(members.size() == costs.size(), "every member has a cost");
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return costs[i]; });
  std::vector<std::int64_t> load(static_cast<std::size_t>(size), 0);
  std::vector<std::size_t> positions;
  for (const std::size_t index : order) {
    const auto least = std::ranges::min_element(load);
    *least += costs[index];
    if (least - load.begin() == rank) positions.push_back(index);
  }
  std::ranges::sort(positions);
  std::vector<std::size_t> share;
  for (const std::size_t index : positions) share.push_back(members[index]);
  return share;
}

Range range_of(std::size_t count, int rank, int size) {
  const auto number = static_cast<std::size_t>(rank), of = static_cast<std::size_t>(size);
  return {.begin = count * number / of, .end = count * (number + 1) / of};
}

}  // namespace tritonsmith::distributed
