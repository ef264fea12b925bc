// Jumps: elements of the outputs at which the reference's own rounding decides. A code of eight bits is
// one more or one less if the number before it moves by its last digit over a half. A right kernel that
// rounds otherwise gets the other code there. So where few elements are wrong, the referee asks which
// other values the reference itself has there: it runs the reference again with results that are rounded
// otherwise, and adopts a value that comes out. Values made to meet jumps exactly (meets_jumps()) are
// never asked for. The referee's one thread calls this.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gym/compare/compare.h"
#include "gym/trial/element_values.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// How often the reference runs with other roundings, at most. After `kRoundsWithoutJump` runs in which no
// element jumped, no more follow.
inline constexpr int kJumpRounds = 32, kRoundsWithoutJump = 12;

// Returns the nth other rounding of the reference.
Nudge jump_nudge(int round);

// Rounds the elements of a tensor of 32 or 64 bits to a grid: `by.units` neighbouring numbers all become
// one of them. The round decides which. Equal values stay equal, and a second call changes nothing.
// Whole numbers, numbers of at most 12 significant bits, NaN and infinity stay as they are. No element
// leaves the range of the tensor's values and crosses a whole number there, because an index or the
// operand of a root may end at one. Other tensors stay as they are.
void round_to_grid(const Nudge& by, at::Tensor& tensor);

// Rounds what one step of the reference's forward made. Memory that forward did not make stays.
class OtherRounding {
 public:
  OtherRounding(const plan::Plan& task, const Nudge& by);
  void after_step(std::size_t step, tensors::TensorTable& tensors) const;
  // Says whether forward made the tensor's memory.
  bool is_made(int tensor) const;

 private:
  const plan::Plan& task_;
  Nudge by_;
  std::vector<bool> is_kept_;  // by tensor of the plan
};

// One side's outputs, flat: the tensors of its result in their order.
std::vector<at::Tensor> flat_outputs(const plan::Value& outputs,
                                     const tensors::TensorTable& tensors);

// Returns the wrong elements with the candidate's values. Returns nothing if there are none or more than
// a few (one in 64), or if the outputs have other types or shapes, or hold complex numbers.
std::vector<ElementValues> few_wrong_elements(const std::vector<at::Tensor>& candidate,
                                              const std::vector<at::Tensor>& reference,
                                              const compare::CompareOptions& how);

// Returns the values of the same elements in other outputs.
std::vector<ElementValues> values_at(const std::vector<ElementValues>& elements,
                                     const std::vector<at::Tensor>& outputs);

// Writes the values into the reference's outputs, and into those in float64 where they are defined. Skips
// memory that forward did not make.
void write_values(const std::vector<ElementValues>& values, const Sides& sides,
                  const tensors::TensorTable& exact);

// Collects which values the reference has at wrong elements.
class JumpSearch {
 public:
  // wanted: the candidate's values. first: the reference's at the same elements, without a nudge.
  JumpSearch(std::vector<ElementValues> wanted, std::vector<ElementValues> first);
  // Takes the reference's values under one nudge. Ignores others than those of the same elements.
  void add(const std::vector<ElementValues>& values);
  bool is_over() const { return left_ == 0 || (rounds_ >= kRoundsWithoutJump && left_ == all_); }
  // Returns the values to adopt, or nothing if an element does not jump to the candidate's value.
  std::vector<ElementValues> adopted() const;

 private:
  std::vector<ElementValues> wanted_, first_, best_;
  std::vector<std::vector<bool>> found_;
  std::int64_t all_ = 0, left_ = 0;
  int rounds_ = 0;
};

}  // namespace tritonsmith::gym::trial
