#include "gym/tensors/replay_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

namespace tritonsmith::gym::tensors {
namespace {

struct State {
  bool active = false;
  bool refused = false;
  Filler filler = Filler::zero;
  std::uint64_t random = 0;  // of plausible numbers
  std::int64_t cap = 0;
  std::int64_t live = 0;
};
State state;

// Each block begins with its size. Libraries such as oneDNN want a pointer that is its own context,
// so the size has no other location. The header is as wide as LibTorch's alignment.
constexpr std::size_t kHeader = 64;

void release(void* data) {
  if (data == nullptr) return;
  std::byte* block = static_cast<std::byte*>(data) - kHeader;
  std::int64_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  state.live -= bytes;
  c10::free_cpu(block);
}

void ignore(void*) {}

// Each trial begins with the same numbers. So a trial that runs again, for example in another order
// of programs, differs by nothing else. Another process has other numbers.
std::uint64_t first_of_plausible() {
  static const std::uint64_t random = std::random_device()() | std::uint64_t{1} << 32;
  return random;
}

// Each half of a word is a number between 1 and 8 in bfloat16 (0x3f80 to 0x40ff), and so is the
// word in fp32. One word in four holds zeros, as memory of the operating system does.
void fill_plausibly(std::byte* data, std::size_t bytes) {
  std::uint64_t& random = state.random;
  bool is_zero = false;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const auto half = [](std::uint64_t bits) {
      return static_cast<std::uint32_t>((0x3f80 + bits % 0x180) | (bits & 0x8000));
    };
    std::uint32_t word = half(random & 0xffff) << 16 | half(random >> 40 & 0xffff);
    if (at % sizeof(std::uint64_t) == 0) is_zero = random >> 60 < 4;
    if (is_zero) word = 0;
    std::memcpy(data + at, &word, std::min(sizeof word, bytes - at));
  }
}

void fill(std::byte* data, std::size_t bytes, Filler filler) {
  if (filler == Filler::plausible)
    fill_plausibly(data, bytes);
  else
    std::memset(data, static_cast<int>(filler), bytes);
}

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const auto size = static_cast<std::int64_t>(bytes);
    if (state.active && size > state.cap - state.live) {
      state.refused = true;
      // LibTorch's allocators report failures by its own exception. The replay catches it with all
      // others of its kind.
      TORCH_CHECK(false, "out of the referee's memory budget: ", size, " bytes more than ",
                  state.live, " would exceed ", state.cap);
    }
    if (bytes == 0) return {nullptr, nullptr, &ignore, c10::Device(c10::DeviceType::CPU)};
    auto* block = static_cast<std::byte*>(c10::alloc_cpu(bytes + kHeader));
    std::memcpy(block, &size, sizeof size);
    state.live += size;
    std::byte* data = block + kHeader;
    if (state.active) fill(data, bytes, state.filler);
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

ReplayMemory::ReplayMemory() {
  static Allocator allocator;
  constexpr std::uint8_t above_the_default = 10;
  c10::SetCPUAllocator(&allocator, above_the_default);
}

ReplayMemory& ReplayMemory::instance() {
  static ReplayMemory memory;
  return memory;
}

void ReplayMemory::begin(Filler filler, std::int64_t cap_bytes) {
  state.active = true;
  state.refused = false;
  state.filler = filler;
  state.random = first_of_plausible();
  state.cap = cap_bytes;
}

void ReplayMemory::set_filler(Filler filler) { state.filler = filler; }
void ReplayMemory::end() { state.active = false; }
std::int64_t ReplayMemory::live_bytes() const { return state.live; }
std::int64_t ReplayMemory::room_bytes() const {
  if (!state.active) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(state.cap - state.live, 0);
}

bool ReplayMemory::refused() const { return state.refused; }

bool holds_filler(const at::Tensor& contiguous, std::int64_t element, Filler filler) {
  if (filler == Filler::plausible) return false;
  const auto width = static_cast<std::int64_t>(contiguous.element_size());
  const auto* bytes =
      static_cast<const std::uint8_t*>(contiguous.const_data_ptr()) + element * width;
  for (std::int64_t i = 0; i < width; ++i)
    if (bytes[i] != static_cast<std::uint8_t>(filler)) return false;
  return true;
}

}  // namespace tritonsmith::gym::tensors
