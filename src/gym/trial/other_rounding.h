// Other roundings of a plan. What each step made is rounded to a grid, on which several neighbouring numbers
// become one. That shows which results depend on the last bits of a number. The referee's one thread calls
// this.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

#include "gym/plan/plan.h"
#include "gym/tensors/tensors.h"
#include "gym/trial/trial_config.h"

namespace tritonsmith::gym::trial {

// Returns the nth other rounding of the reference: 16 or 64 neighbouring numbers become one, or 4 if it is
// fine. A fine one is not much more than one rounding, such as that of a fused multiplication and addition.
Nudge jump_nudge(int round, bool is_fine = false);

// Rounds the elements of a tensor of 32 or 64 bits to a grid: `by.units` neighbouring numbers all become
// one of them. The round decides which. Equal values stay equal, and a second call changes nothing.
// Whole numbers, numbers of at most 12 significant bits, the smallest numbers, NaN and infinity stay as they
// are. No element leaves the range of the tensor's values and crosses a whole number there, because an index
// or the operand of a root may end at one. Other tensors stay as they are. by_chance: a mask of the elements
// that move even if they are whole or have few bits. If it is undefined, there are none.
void round_to_grid(const Nudge& by, at::Tensor& tensor, const at::Tensor& by_chance = {});

// Rounds what one step of a plan's forward made, which is the reference's or the candidate's. Memory that
// forward did not make stays. Where the nudge leaves steps as they are, a scale may be rounded and what it
// divides is not, so that all quotients move in one direction.
class OtherRounding {
 public:
  OtherRounding(const plan::Plan& task, const Nudge& by);
  void after_step(std::size_t step, tensors::TensorTable& tensors) const;
  // Says whether forward made the tensor's memory.
  bool is_made(int tensor) const;

 private:
  bool leaves(std::size_t step) const;
  // Says which elements of a sum, difference, product or quotient are whole, or a half, only by chance: those
  // of which an operand was rounded, and all that a rounded scale multiplies or divides. With the scale
  // s = largest / 127, x / s may be a half where x * (127 / largest) lies beside it. Undefined for other calls.
  at::Tensor exact_by_chance(const plan::AtenCall& call, const at::Tensor& made,
                             const tensors::TensorTable& tensors) const;

  const plan::Plan& task_;
  Nudge by_;
  std::vector<bool> is_kept_, is_rounded_;  // by tensor of the plan
};

}  // namespace tritonsmith::gym::trial
