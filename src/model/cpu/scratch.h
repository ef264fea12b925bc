// Lends temporary memory to a task. Each thread keeps its pieces between tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tritonsmith::model::cpu {

// Returns piece `index` of this thread with room for at least `size` elements. Its contents are
// unspecified.
template <typename T>
T* scratch(int index, std::int64_t size) {
  constexpr int kPieces = 12;
  static thread_local std::vector<T> pieces[kPieces];
  std::vector<T>& piece = pieces[index];
  if (static_cast<std::int64_t>(piece.size()) < size) piece.resize(static_cast<std::size_t>(size));
  return piece.data();
}

// Memory of one call. It is not initialised.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::int64_t size)
      : data_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size))) {}
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

}  // namespace tritonsmith::model::cpu
