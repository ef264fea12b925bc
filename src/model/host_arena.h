// HostArena: host memory that copies of what lies on a GPU go to, again and again: every page is
// there from the beginning and known to the driver (pinned), so that a copy runs at the speed of
// the bus. To get it takes many times as long as a copy, so its owner keeps it. One thread copies
// into it; what it gave may be read by any, and keeps it alive.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <future>
#include <memory>

namespace tritonsmith::model {

class HostArena : public std::enable_shared_from_this<HostArena> {
 public:
  // Fails when there is not so much memory. Where the driver does not take it, copies are as slow
  // as to any memory.
  static std::shared_ptr<HostArena> make(std::size_t bytes);
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
  HostArena(std::byte* data, std::size_t size);
  std::byte* data_;
  std::size_t size_, used_ = 0;
  bool is_pinned_ = false;
};

// An arena that is made by a thread of its own while its owner does something else: ten seconds for
// forty gigabytes. One thread calls it.
class ComingArena {
 public:
  // Begins to make one, unless one as large is there or under way. The device that it will serve
  // must be in use by this thread.
  void expect(std::size_t bytes);
  // One at least as large, waited for; made now if none was expected. Fails as make() does.
  const std::shared_ptr<HostArena>& get(std::size_t bytes);

 private:
  std::size_t bytes_ = 0;  // of what is there or under way
  std::future<std::shared_ptr<HostArena>> coming_;
  std::shared_ptr<HostArena> here_;
};

}  // namespace tritonsmith::model
