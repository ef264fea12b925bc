#include "generate/engine/page_pool.h"

#include <numeric>

#include "base/check.h"

namespace tritonsmith::generate::engine {

PagePool::PagePool(int pages)
    : references_(static_cast<std::size_t>(pages), 0), free_(static_cast<std::size_t>(pages)) {
  std::iota(free_.rbegin(), free_.rend(), 0);  // the lowest page is taken first
}

std::optional<std::vector<int>> PagePool::take(int count) {
  if (count > free_pages()) return std::nullopt;
  std::vector<int> taken(free_.end() - count, free_.end());
  free_.resize(free_.size() - static_cast<std::size_t>(count));
  for (const int page : taken) references_[static_cast<std::size_t>(page)] = 1;
  return taken;
}

void PagePool::share(std::span<const int> pages) {
  for (const int page : pages) {
    int& references = references_[static_cast<std::size_t>(page)];
    CHECK(references > 0, "page {} is shared but free", page);
    ++references;
  }
}

void PagePool::give_back(std::span<const int> pages) {
  for (const int page : pages) {
    int& references = references_[static_cast<std::size_t>(page)];
    CHECK(references > 0, "page {} is given back twice", page);
    if (--references == 0) free_.push_back(page);
  }
}

}  // namespace tritonsmith::generate::engine
