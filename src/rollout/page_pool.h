// PagePool: who holds which page of a paged KV cache. A page is free, or held by one sequence, or
// by several that share a prompt; the last to give it back frees it. Bookkeeping alone: the memory
// is CudaDecoder's. One thread uses it.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tritonsmith::rollout {

class PagePool {
 public:
  explicit PagePool(int pages);

  int size() const { return static_cast<int>(holders_.size()); }
  int free_pages() const { return static_cast<int>(free_.size()); }
  // Nothing when fewer are free.
  std::optional<std::vector<int>> take(int count);
  // One more holder of each.
  void share(std::span<const int> pages);
  void give_back(std::span<const int> pages);

 private:
  std::vector<int> holders_;  // of each page
  std::vector<int> free_;
};

}  // namespace tritonsmith::rollout
