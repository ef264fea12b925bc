// ReplayMemory: the referee's own CPU allocator behind LibTorch's. It limits the live memory of a
// plan, whatever sizes the plan declares. It fills every new buffer with the current filler, so
// that unwritten elements can be recognised. The process has one instance, which it installs at
// first use. The referee runs plans on one thread.
#pragma once

#include <cstdint>

#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::tensors {

// The content of fresh memory. `nan`: bytes 0xff, a NaN in every floating type. `huge`: bytes 0xfe,
// finite and huge in fp32 and bf16, so that a kernel which skips NaN is caught too. A written value
// that equals one filler looks unwritten, so trials alternate between fillers. `plausible`: numbers
// between 1 and 8 of either sign, as kernels compute them. They decide a maximum and a minimum, and
// no kernel can tell them from its own. On a CPU they are random, and one in four is 0. On a GPU a
// quarter of the memory is 0, and the rest has the byte 0x41. `zero`: what the operating system
// gives. The reference gets zeros, so that a read of unwritten memory is deterministic.
enum class Filler : std::uint8_t { zero = 0x00, plausible = 0x41, huge = 0xfe, nan = 0xff };

class ReplayMemory {
 public:
  static ReplayMemory& instance();

  // From now on, new memory holds the filler, and at most `cap_bytes` may be live. LibTorch reports
  // a larger allocation as an out-of-memory error.
  void begin(Filler filler, std::int64_t cap_bytes);
  void set_filler(Filler filler);
  // Ends filling and the limit, for the referee's own work.
  void end();

  std::int64_t live_bytes() const;
  // Returns how many more bytes may be live.
  std::int64_t room_bytes() const;
  // Tells whether an allocation was refused since begin().
  bool refused() const;

 private:
  ReplayMemory();
};

// Tells whether every byte of the element still has the filler's value. Never true for plausible
// numbers, which may be results as well.
bool holds_filler(const at::Tensor& contiguous, std::int64_t element, Filler filler);

}  // namespace tritonsmith::gym::tensors
