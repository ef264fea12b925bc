// Makes an input that follows from a draw meet other inputs. Of inputs that follow from draws, each
// in its own way, few elements would be equal by chance. The referee's thread calls this.
#pragma once

#include <span>

#include "base/rng.h"
#include "gym/device/device.h"
#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/analysis/input_draws.h"

namespace tritonsmith::gym::trial {

// Says whether the input is one draw, moved and scaled. Between its bounds, any number may stand there.
bool is_moved_draw(std::span<const plan::analysis::InputDraw> draws, int input);

struct MetInputs {
  const plan::analysis::ForwardFacts& facts;
  std::span<const int> inputs;  // the task's, as tensors
  std::size_t nth = 0;          // the input that changes
};
// Puts elements of other inputs in place of some, if forward compares them exactly as they are
// given. They lie between the input's own least and largest.
device::InputChange meeting(const MetInputs& met, const tensors::TensorTable& tensors, Rng& rng);

}  // namespace tritonsmith::gym::trial
