// PagePool: the holders of each page of a paged KV cache. A page is free, held by one sequence, or
// held by several sequences with a common prompt. The last holder frees it. The pool only keeps
// count; CudaDecoder owns the memory. One thread uses it.
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
  // Returns nothing if fewer pages are free.
  std::optional<std::vector<int>> take(int count);
  // Adds one holder to each page.
  void share(std::span<const int> pages);
  void give_back(std::span<const int> pages);

 private:
  std::vector<int> holders_;  // of each page
  std::vector<int> free_;
};

}  // namespace tritonsmith::rollout
