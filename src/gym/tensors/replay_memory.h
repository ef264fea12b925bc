// ReplayMemory: the referee's own CPU allocator behind LibTorch's. It caps what a plan may hold
// live, whatever sizes the plan declared, and fills every new buffer with the current filler, so
// that an element nobody wrote is seen as such. One for the whole process, installed on first use;
// the referee runs plans on one thread.
#pragma once

#include <cstdint>

#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::tensors {

// What fresh memory holds. `nan`: bytes 0xff, a NaN in every floating type. `huge`: bytes 0xfe,
// finite and huge in fp32 and bf16, so that a kernel which skips NaN is caught too. A value that
// equals both cannot be told from a written one, which is why trials alternate. The reference gets
// zeros: reading memory that nobody wrote is then deterministic.
enum class Filler : std::uint8_t { zero = 0x00, huge = 0xfe, nan = 0xff };

class ReplayMemory {
 public:
  static ReplayMemory& instance();

  // From now on: this filler, and at most this much live at once. Beyond it LibTorch sees an
  // out-of-memory error.
  void begin(Filler filler, std::int64_t cap_bytes);
  void set_filler(Filler filler);
  // No filling, no cap: the referee's own work.
  void end();

  std::int64_t live_bytes() const;
  // How much more may be live.
  std::int64_t room_bytes() const;
  // True when an allocation was refused since begin().
  bool refused() const;

 private:
  ReplayMemory();
};

// True where every byte of the element at `offset` is still the filler's.
bool holds_filler(const at::Tensor& contiguous, std::int64_t element, Filler filler);

}  // namespace tritonsmith::gym::tensors
