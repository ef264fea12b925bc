// HostArena: host memory that receives copies of GPU data again and again. All pages exist from the
// beginning and are pinned, so that a copy runs at the speed of the bus. Allocating the arena takes
// many times as long as a copy, so its owner keeps it. One thread copies into it. Any thread may
// read the copies, and they keep the arena alive.
//
// The pages are pinned piece by piece. While the driver pins memory, no other thread of the process
// can call the driver or map memory. Pinning forty gigabytes at once delays a training step by two
// seconds. A copy by the driver must not cross from one piece to the next. copy() splits its copies
// accordingly. Code that copies back to a GPU must do so, too, by split_at_pieces.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

namespace tritonsmith::model {

// Pins pages through the driver. Returns false without a driver, or if it has no room.
bool pin_pages(std::byte* data, std::size_t size);
void unpin_pages(std::byte* data);

// The way to pin an arena's pages. Tests use smaller pieces and no driver.
struct Pinning {
  std::size_t piece = std::size_t{1} << 30;  // bytes, a multiple of the page size
  std::function<bool(std::byte*, std::size_t)> pin = pin_pages;
  std::function<void(std::byte*)> unpin = unpin_pages;  // reverses pin
};

struct ByteRange {
  std::size_t begin, size;
  bool operator==(const ByteRange&) const = default;
};
// Splits a range of an arena into parts in order, each within one piece. Empty parts are left out.
std::vector<ByteRange> split_at_pieces(ByteRange range, std::size_t piece);

class HostArena : public std::enable_shared_from_this<HostArena> {
 public:
  // Fails if there is not enough memory. If the driver refuses a piece, copies to that piece are as
  // slow as to unpinned memory.
  static std::shared_ptr<HostArena> make(std::size_t bytes, Pinning pinning = {});
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  std::size_t size() const { return size_; }
  // Returns the bytes of the arena that a copy of `bytes` occupies.
  static std::size_t room_for(std::size_t bytes);
  // Returns a contiguous copy of a GPU tensor, complete when the function returns. CHECKs that
  // there is room.
  at::Tensor copy(const at::Tensor& tensor);
  // Starts again from the beginning and overwrites earlier copies.
  void rewind() { used_ = 0; }

 private:
  HostArena(std::byte* data, std::size_t size, Pinning pinning);
  std::byte* data_;
  std::size_t size_, used_ = 0;
  Pinning pinning_;
  std::vector<std::byte*> pinned_;  // begins of the pieces that the driver pinned
  void* context_;  // their CUDA context; a reader on another thread may be the last owner
};

// An arena that a thread of its own makes while its owner does other work. Forty gigabytes take ten
// seconds. One thread calls it.
class ComingArena {
 public:
  explicit ComingArena(Pinning pinning = {}) : pinning_(std::move(pinning)) {}
  // Begins to make an arena, unless one of that size exists or is in progress. This thread must
  // already use the device that the arena will serve.
  void expect(std::size_t bytes);
  // Waits for an arena of at least `bytes`. If none was begun, makes it now. Fails like make().
  const std::shared_ptr<HostArena>& get(std::size_t bytes);

 private:
  Pinning pinning_;
  std::size_t bytes_ = 0;  // of the arena that exists or is in progress
  std::future<std::shared_ptr<HostArena>> coming_;
  std::shared_ptr<HostArena> here_;
};

}  // namespace tritonsmith::model
