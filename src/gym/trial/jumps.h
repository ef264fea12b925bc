// Jumps: elements of the outputs at which the reference's own rounding decides. A code of eight bits
// becomes the next one if the number before it crosses a half, and the last bit of that number may decide
// this. A right kernel that rounds otherwise gets the other code. So where few elements are wrong, the
// referee asks which other values the reference itself has there. It runs the reference again with other
// roundings, and *adopts* a value that comes out: it expects that value. The referee's one thread calls this.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "data/verdict.h"
#include "gym/trial/other_rounding.h"
#include "gym/trial/wrong_elements.h"

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

// Collects which values the reference has at wrong elements. A wrong floating number must lie in the range of
// the values that the reference has there, or at most half of the tolerance beside it, because a sum of codes
// has many values if several of its codes jump. One run must give all wrong whole numbers of a row. If several
// outputs have as many rows, it must give those of the row in all of them. If a whole number takes a third
// value, it is noise, as a count of many jumps is. Then nothing is adopted.
class JumpSearch {
 public:
  // wanted: the candidate's values. first: the reference's at the same elements, without a nudge.
  JumpSearch(std::vector<ElementValues> wanted, std::vector<ElementValues> first);
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

  std::vector<ElementValues> wanted_, first_, best_;
  // By output and element: a row of whole numbers, or one floating element.
  std::vector<Groups> groups_;
  // The least and the largest value that the reference has at each element of all outputs.
  std::vector<std::pair<double, double>> ranges_;
  std::vector<bool> found_;                           // by group
  std::vector<bool> is_row_;                          // by group
  std::size_t count_ = 0, left_ = 0, rows_left_ = 0;  // of groups, of rows
  bool is_noise_ = false;
  int rounds_ = 0;
};

// Returns the reference's values at the elements of `wanted` under a nudge. Returns an empty list if the
// reference does not run there, and nothing if the search must end.
using AskReference = std::function<std::optional<std::vector<ElementValues>>(const Nudge& nudge)>;
// Searches as JumpSearch does, and returns what it adopts. Where memory runs out, that is nothing. Roundings
// are coarse at first, and fine if the coarse ones show noise.
std::vector<ElementValues> search_jumps(const std::vector<ElementValues>& wanted,
                                        const std::vector<ElementValues>& first,
                                        const AskReference& ask);

// Returns the values to adopt where the reference in float64 excuses the candidate's, by the rules of
// JumpSearch. Such a candidate is more exact than PyTorch. Returns nothing if another element is wrong.
std::vector<ElementValues> confirmed_by_exact(const std::vector<ElementValues>& wanted,
                                              const std::vector<ElementValues>& first,
                                              const std::vector<ElementValues>& exact);

// Tells readers of a verdict at how many elements the adopted values stand.
Finding jump_note(const std::vector<ElementValues>& adopted);

}  // namespace tritonsmith::gym::trial
