// PagePool: counts the references to each page of a paged KV cache. A page is free, or used by one
// sequence, or shared by several that begin with the same prompt. The last to give it back frees
// it. The memory itself is CudaDecoder's. One thread uses it.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tritonsmith::generate::engine {

class PagePool {
 public:
  explicit PagePool(int pages);

  int size() const { return static_cast<int>(references_.size()); }
  int free_pages() const { return static_cast<int>(free_.size()); }
  // Takes so many pages; nothing when fewer are free.
  std::optional<std::vector<int>> take(int count);
  // Adds a reference to each page.
  void share(std::span<const int> pages);
  void give_back(std::span<const int> pages);

 private:
  std::vector<int> references_;  // to each page
  std::vector<int> free_;
};

}  // namespace tritonsmith::generate::engine
