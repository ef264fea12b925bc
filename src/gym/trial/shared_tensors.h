// Holds the tensors that both sides of a trial have: inputs and matched weights. The reference has
// each of them, the candidate has a private copy, and the trial remembers what both held before
// forward.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gym/device/device.h"

namespace tritonsmith::gym::trial {

struct SharedTensor {
  std::string what;  // its name in messages: "`x`", "`fc1.weight`"
  int reference = 0, candidate = 0;
  bool is_input = false;
  bool counts_calls = false;  // the buffer in which a batch norm counts its calls
  device::Snapshot before;
  // Set if the device copied and remembered the tensor in one pass: `before` is then
  // Device::copied() of this number.
  std::optional<std::size_t> copied;
};

// A weight or a buffer of the reference that the candidate does not have.
struct UnmatchedWeight {
  std::string name;
  int reference = 0;
  device::Snapshot before;
};

}  // namespace tritonsmith::gym::trial
