// HostArena: host memory that copies of what lies on a GPU go to, again and again: every page is
// there from the beginning and known to the driver (pinned), so that a copy runs at the speed of
// the bus. To get it takes many times as long as a copy, so its owner keeps it. One thread copies
// into it; what it gave may be read by any, and keeps it alive.
//
// The pages are pinned a piece at a time: while the driver pins, nobody else of the process gets to
// the driver or maps memory, and forty gigabytes at once made a step of training wait for two
// seconds. A copy by the driver must not lie in two pieces. copy() sees to that; who copies what it
// gave to a GPU goes by split_at_pieces, too.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

namespace tritonsmith::model {

// By the driver, where there is one and it has room.
bool pin_pages(std::byte* data, std::size_t size);
void unpin_pages(std::byte* data);

// How an arena's pages become known to the driver. Tests have smaller pieces and no driver.
struct Pinning {
  std::size_t piece = std::size_t{1} << 30;  // bytes: whole pages
  std::function<bool(std::byte*, std::size_t)> pin = pin_pages;
  std::function<void(std::byte*)> unpin = unpin_pages;  // what pin took
};

struct ByteRange {
  std::size_t begin, size;
  bool operator==(const ByteRange&) const = default;
};
// A range of an arena in parts, each within one piece, in their order; none of what is empty.
std::vector<ByteRange> split_at_pieces(ByteRange range, std::size_t piece);

class HostArena : public std::enable_shared_from_this<HostArena> {
 public:
  // Fails when there is not so much memory. Where the driver does not take a piece, copies to it
  // are as slow as to any memory.
  static std::shared_ptr<HostArena> make(std::size_t bytes, Pinning pinning = {});
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  std::size_t size() const { return size_; }
  // What a copy of so many bytes takes of it.
  static std::size_t room_for(std::size_t bytes);
  // A contiguous copy of a tensor on a GPU, whole when it returns; CHECKs that there is room.
  at::Tensor copy(const at::Tensor& tensor);
  // From the beginning again: over what was given before.
  void rewind() { used_ = 0; }

 private:
  HostArena(std::byte* data, std::size_t size, Pinning pinning);
  std::byte* data_;
  std::size_t size_, used_ = 0;
  Pinning pinning_;
  std::vector<std::byte*> pinned_;  // where the pieces begin that the driver took
  void* context_;                   // that they were pinned in: a reader may be the last to let go
};

// An arena that is made by a thread of its own while its owner does something else: ten seconds for
// forty gigabytes. One thread calls it.
class ComingArena {
 public:
  explicit ComingArena(Pinning pinning = {}) : pinning_(std::move(pinning)) {}
  // Begins to make one, unless one as large is there or under way. The device that it will serve
  // must be in use by this thread.
  void expect(std::size_t bytes);
  // One at least as large, waited for; made now if none was expected. Fails as make() does.
  const std::shared_ptr<HostArena>& get(std::size_t bytes);

 private:
  Pinning pinning_;
  std::size_t bytes_ = 0;  // of what is there or under way
  std::future<std::shared_ptr<HostArena>> coming_;
  std::shared_ptr<HostArena> here_;
};

}  // namespace tritonsmith::model
