#include "model/host_arena.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/cpu/parallel.h"

namespace tritonsmith::model {
namespace {

constexpr std::size_t kArenaAlignment = 4096;
constexpr std::size_t kPage = 4096;

// By all threads: to touch each page takes longer than anything else here.
void touch_stretch(std::byte* data, std::size_t size) {
  constexpr std::size_t kAtOnce = std::size_t{64} << 20;
  const auto stretches = static_cast<std::int64_t>((size + kAtOnce - 1) / kAtOnce);
  cpu::parallel_for(
      stretches, stretches * static_cast<std::int64_t>(kAtOnce), [&](std::int64_t stretch) {
        const std::size_t begin = static_cast<std::size_t>(stretch) * kAtOnce;
        for (std::size_t at = begin; at < std::min(begin + kAtOnce, size); at += kPage) {
          volatile std::byte* first = data + at;
          *first = std::byte{0};
        }
      });
}

// A gigabyte at a time, so that others come to those threads in between.
void touch_pages(std::byte* data, std::size_t size) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;
  for (std::size_t begin = 0; begin < size; begin += kAtOnce)
    touch_stretch(data + begin, std::min(kAtOnce, size - begin));
}

// The driver is loaded where there is a GPU (device.h); its functions by hand, as cuda.h has them.
template <typename Function>
Function* driver_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

bool pin(std::byte* data, std::size_t size) {
  auto* const pin_pages =
      driver_function<int(void*, std::size_t, unsigned)>("cuMemHostRegister_v2");
  constexpr unsigned kForEveryContext = 1;
  return pin_pages != nullptr && pin_pages(data, size, kForEveryContext) == 0;
}

// What the driver knows this thread's GPU by; a new thread has none.
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

void unpin(std::byte* data) {
  if (auto* const unpin_pages = driver_function<int(void*)>("cuMemHostUnregister"))
    unpin_pages(data);
}

}  // namespace

std::shared_ptr<HostArena> HostArena::make(std::size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TORCH_CHECK(mapped != MAP_FAILED, "cannot get ", bytes, " bytes of host memory");
  ::madvise(mapped, bytes, MADV_HUGEPAGE);
  return std::shared_ptr<HostArena>(new HostArena(static_cast<std::byte*>(mapped), bytes));
}

HostArena::HostArena(std::byte* data, std::size_t size) : data_(data), size_(size) {
  touch_pages(data_, size_);
  is_pinned_ = pin(data_, size_);
}

HostArena::~HostArena() {
  if (is_pinned_) unpin(data_);
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
  std::byte* const data = data_ + used_;
  used_ += room;
  at::Tensor copy = at::from_blob(
      data, source.sizes(), [keep = shared_from_this()](void*) {},
      source.options().device(at::kCPU));
  return copy.copy_(source);
}

void ComingArena::expect(std::size_t bytes) {
  if (bytes <= bytes_) return;
  bytes_ = 0;
  if (coming_.valid()) coming_.wait();  // not two at a time
  coming_ = {};
  here_.reset();
  coming_ = std::async(std::launch::async, [bytes, context = context_of_thread()] {
    use_context(context);
    return HostArena::make(bytes);
  });
  bytes_ = bytes;
}

const std::shared_ptr<HostArena>& ComingArena::get(std::size_t bytes) {
  expect(bytes);
  if (coming_.valid()) {
    const std::size_t coming = std::exchange(bytes_, 0);  // nothing, where this throws
    here_ = coming_.get();
    bytes_ = coming;
  }
  return here_;
}

}  // namespace tritonsmith::model
