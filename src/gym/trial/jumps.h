// Jumps: elements of the outputs at which the reference's own rounding decides. A code of eight bits
// becomes the next one if the number before it crosses a half, and the last bit of that number may decide
// this. A right kernel that rounds otherwise gets the other code. So where few elements are wrong, the
// referee asks which other values the reference itself has there. It runs the reference again with other
// roundings, and *adopts* a value that comes out: it expects that value. A reference that loses digits, as
// sin(1000 * x) does, may decide so at many elements. The referee's one thread calls this.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "data/verdict.h"
#include "gym/compare/compare.h"
#include "gym/trial/element_values.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// The reference runs `kLeastJumpRounds` to `kJumpRounds` times with other roundings. It runs at most
// `kWholeJumpRounds` times if wrong whole numbers are left, and at most `kRoundsWithoutJump` times if none of
// these, or fewer than half of the floating numbers, jumps by then. Noise ends the search at once.
inline constexpr int kJumpRounds = 64, kWholeJumpRounds = 32, kLeastJumpRounds = 8,
                     kRoundsWithoutJump = 12;

// Says whether roundings may decide at some element of this trial. They do not where all jumps follow
// exactly from the inputs: where the trial puts inputs at such points (meets_jumps), where forward compares
// or orders inputs as they are, and where it rounds or compares one product or sum of an input and a
// number, or orders anything.
bool rounding_may_decide(const TrialConfig& config);

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

// One side's outputs, flat: the tensors of its result in their order.
std::vector<at::Tensor> flat_outputs(const plan::Value& outputs,
                                     const tensors::TensorTable& tensors);

// Returns the wrong elements with the candidate's values. Returns nothing if there are none, or more than
// 65,536. Of an output, at most one whole number in 64, or one floating number in 16, may be wrong. More
// floating numbers may be wrong, and up to 4 million, where the reference is off the exact result by a
// quarter of the tolerance at one element in 16. Returns nothing either if the outputs have other types or
// shapes, or hold complex numbers or whole numbers beyond 2^53. exact: the outputs in float64, or empty.
std::vector<ElementValues> few_wrong_elements(const std::vector<at::Tensor>& candidate,
                                              const std::vector<at::Tensor>& reference,
                                              const compare::CompareOptions& how,
                                              const std::vector<at::Tensor>& exact = {});

// Returns the values of the same elements in other outputs, or nothing if these have another size.
std::vector<ElementValues> values_at(const std::vector<ElementValues>& elements,
                                     const std::vector<at::Tensor>& outputs);

// Writes the values into the reference's outputs, and into those in float64 where they are defined. Skips
// memory that forward did not make.
void write_values(const std::vector<ElementValues>& values, const Sides& sides,
                  const tensors::TensorTable& exact);

// Collects which values the reference has at wrong elements. A wrong floating number must lie in the range of
// the values that the reference has there, or at most half of the tolerance beside it, because a sum of codes
// has many values if several of its codes jump. The range is half as wide again if roundings are fine. All wrong whole numbers of one row, in all outputs of as many
// rows, must be the reference's in the same run. If one of them takes a third value, it is noise, as a count
// of many jumps is. Then nothing is adopted.
class JumpSearch {
 public:
  // wanted: the candidate's values. first: the reference's at the same elements, without a nudge.
  JumpSearch(std::vector<ElementValues> wanted, std::vector<ElementValues> first,
             bool is_fine = false);
  // Takes the reference's values under one nudge. Ignores others than those of the same elements.
  void add(const std::vector<ElementValues>& values);
  bool is_over() const;
  bool is_noise() const { return is_noise_; }
  // Returns the values to adopt, or nothing if these rules do not excuse every wrong element.
  std::vector<ElementValues> adopted() const;

 private:
  using Groups = std::vector<std::size_t>;
  bool jumps(std::size_t output, std::size_t element, double now);
  std::optional<double> in_range(std::size_t output, std::size_t element, double now,
                                 std::pair<double, double>& range);
  void adopt_rows();

  bool is_fine_;
  std::vector<ElementValues> wanted_, first_, best_;
  std::vector<Groups>
      groups_;  // by output and element: a row of whole numbers, or one floating element
  std::vector<std::pair<double, double>>
      ranges_;                // of the reference's values, by element of all outputs
  std::vector<bool> found_;   // by group
  std::vector<bool> is_row_;  // by group
  std::size_t count_ = 0, left_ = 0, rows_left_ = 0;  // of groups, of rows
  bool is_noise_ = false;
  int rounds_ = 0;
};

// Returns the reference's values at the elements of `wanted` under a nudge. Returns an empty list if the
// reference does not run there, and nothing if the search must end.
using AskReference = std::function<std::optional<std::vector<ElementValues>>(const Nudge& nudge)>;
// Searches as JumpSearch does, and returns what it adopts. Where memory runs out, that is nothing. Roundings
// are coarse at first. They are fine if the coarse ones show noise, if the reference loses digits, or if many
// elements are wrong.
std::vector<ElementValues> search_jumps(const std::vector<ElementValues>& wanted,
                                        const std::vector<ElementValues>& first,
                                        const AskReference& ask);

// Returns the values to adopt where the reference in float64 excuses the candidate's, by the rules of
// JumpSearch. Such a candidate is more exact than PyTorch. Returns nothing if another element is wrong, or many.
std::vector<ElementValues> confirmed_by_exact(const std::vector<ElementValues>& wanted,
                                              const std::vector<ElementValues>& first,
                                              const std::vector<ElementValues>& exact);

// Tells readers of a verdict at how many elements the adopted values stand.
Finding jump_note(const std::vector<ElementValues>& adopted);

}  // namespace tritonsmith::gym::trial
