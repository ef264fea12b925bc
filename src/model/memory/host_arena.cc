#include "model/memory/host_arena.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>

#include "base/check.h"
#include "model/cpu/parallel.h"

namespace tritonsmith::model {
namespace {

constexpr std::size_t kArenaAlignment = 4096;
constexpr std::size_t kPage = 4096;

// All threads touch the pages, because that takes longer than everything else here.
void touch_pages(std::byte* data, std::size_t size) {
  constexpr std::size_t kAtOnce = std::size_t{64} << 20;
  const auto blocks = static_cast<std::int64_t>((size + kAtOnce - 1) / kAtOnce);
  cpu::parallel_for(blocks, blocks * static_cast<std::int64_t>(kAtOnce), [&](std::int64_t block) {
    const std::size_t begin = static_cast<std::size_t>(block) * kAtOnce;
    for (std::size_t at = begin; at < std::min(begin + kAtOnce, size); at += kPage) {
      volatile std::byte* first = data + at;
      *first = std::byte{0};
    }
  });
}

// On a machine with a GPU the driver is loaded (device.h). Its functions are looked up by name.
template <typename Function>
Function* driver_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// Returns the CUDA context of this thread's GPU. A new thread has none.
void* context_of_thread() {
  void* context = nullptr;
  if (auto* const get = driver_function<int(void**)>("cuCtxGetCurrent"); get && get(&context) != 0)
    return nullptr;
  return context;
}
void use_context(void* context) {
  if (auto* const set = driver_function<int(void*)>("cuCtxSetCurrent"); set && context)
    set(context);
}

}  // namespace

bool pin_pages(std::byte* data, std::size_t size) {
  auto* const pin = driver_function<int(void*, std::size_t, unsigned)>("cuMemHostRegister_v2");
  constexpr unsigned kForEveryContext = 1;
  return pin != nullptr && pin(data, size, kForEveryContext) == 0;
}

void unpin_pages(std::byte* data) {
  if (auto* const unpin = driver_function<int(void*)>("cuMemHostUnregister")) unpin(data);
}

std::vector<ByteRange> split_at_pieces(ByteRange range, std::size_t piece) {
  std::vector<ByteRange> parts;
  const std::size_t end = range.begin + range.size;
  for (std::size_t begin = range.begin; begin < end;) {
    const std::size_t next = std::min(end, (begin / piece + 1) * piece);
    parts.push_back({begin, next - begin});
    begin = next;
  }
  return parts;
}

std::shared_ptr<HostArena> HostArena::make(std::size_t bytes, Pinning pinning) {
  CHECK(pinning.piece > 0 && pinning.piece % kPage == 0, "pieces of {} bytes are no whole pages",
        pinning.piece);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TORCH_CHECK(mapped != MAP_FAILED, "cannot get ", bytes, " bytes of host memory");
  ::madvise(mapped, bytes, MADV_HUGEPAGE);
  return std::shared_ptr<HostArena>(
      new HostArena(static_cast<std::byte*>(mapped), bytes, std::move(pinning)));
}

// Touches and pins the pieces alternately. While a piece is touched, other threads can call the
// driver. Between two pins, the touching threads can map memory.
HostArena::HostArena(std::byte* data, std::size_t size, Pinning pinning)
    : data_(data), size_(size), pinning_(std::move(pinning)), context_(context_of_thread()) {
  for (const auto& [begin, bytes] : split_at_pieces({0, size_}, pinning_.piece)) {
    std::byte* const piece = data_ + begin;
    touch_pages(piece, bytes);
    if (pinning_.pin(piece, bytes)) pinned_.push_back(piece);
    std::this_thread::yield();
  }
}

HostArena::~HostArena() {
  if (!pinned_.empty() && context_of_thread() == nullptr) use_context(context_);
  for (std::byte* const piece : pinned_) pinning_.unpin(piece);
  ::munmap(data_, size_);
}

std::size_t HostArena::room_for(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

at::Tensor HostArena::copy(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  const at::Tensor source = tensor.detach().contiguous();
  const std::size_t room = room_for(source.nbytes());
  CHECK(used_ + room <= size_, "an arena of {} bytes has no room for {} behind {}", size_, room,
        used_);
  const ByteRange range = {used_, source.nbytes()};
  used_ += room;
  at::Tensor copy = at::from_blob(
      data_ + range.begin, source.sizes(), [keep = shared_from_this()](void*) {},
      source.options().device(at::kCPU));
  if (range.size == 0) return copy;
  const auto bytes_of = [](const at::Tensor& each) { return each.view({-1}).view(at::kByte); };
  const at::Tensor to = bytes_of(copy), from = bytes_of(source);  // [bytes]
  for (const ByteRange& part : split_at_pieces(range, pinning_.piece)) {
    const auto begin = static_cast<std::int64_t>(part.begin - range.begin);
    const auto size = static_cast<std::int64_t>(part.size);
    to.narrow(0, begin, size).copy_(from.narrow(0, begin, size));
  }
  return copy;
}

void ComingArena::expect(std::size_t bytes) {
  if (bytes <= bytes_) return;
  bytes_ = 0;
  if (coming_.valid()) coming_.wait();  // never two at a time
  coming_ = {};
  here_.reset();
  coming_ =
      std::async(std::launch::async, [bytes, pinning = pinning_, context = context_of_thread()] {
        use_context(context);
        return HostArena::make(bytes, pinning);
      });
  bytes_ = bytes;
}

const std::shared_ptr<HostArena>& ComingArena::get(std::size_t bytes) {
  expect(bytes);
  if (coming_.valid()) {
    const std::size_t coming = std::exchange(bytes_, 0);  // stays 0 if get() throws
    here_ = coming_.get();
    bytes_ = coming;
  }
  return here_;
}

}  // namespace tritonsmith::model
