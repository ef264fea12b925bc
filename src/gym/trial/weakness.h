// Tells a weak algorithm from a wrong one. A weak algorithm computes everything, but loses digits to
// rounding on some inputs, as a variance from the difference of two means does far from 0. So its errors
// come from the rounding of its own results. The judge evaluates the candidate again with an arithmetic of
// fewer digits (gym/language/result_rounding.h). Errors of rounding grow as the digits become fewer. The
// error of a computation that is missing, or of one that drops bits on purpose, stays as large as it is.
// Where no evaluator can do so, the inputs are nudged: errors of rounding change as soon as the inputs move
// by a few units in their last place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

// The referee repeats the trial `kRoundings` times, and the candidate's results are rounded to other grids each
// time. A point of a grid stands for as many neighbouring numbers as the width says. If fewer than
// `kLeastRoundings` of these runs give a number at some wrong element, runs with the next width follow. The
// root of a variance that becomes negative gives no number, for example.
inline constexpr int kRoundings = 8, kLeastRoundings = 4;
inline constexpr std::uint32_t kRoundingWidths[] = {32, 16};

// Returns the candidate's errors, element by element over all floating outputs. Returns nothing if
// anything but finite floating values differs, or for more than 2^26 elements. If the trial rounds the
// candidate's results, an error may be NaN or infinity, and outputs that are not floating are not compared.
std::optional<OutputErrors> errors_in_tolerances(const Sides& sides,
                                                 const tensors::TensorTable& exact);

// Returns the number of decimal digits that these errors, in tolerances, cost. Returns nothing if they cost
// more than 3.
std::optional<int> lost_digits(const std::vector<float>& errors);

// Finds out whether rounding explains errors: whether each error beyond the tolerance is at most
// `kExplained` times the spread of its element. The spread is the largest change of the element under all
// roundings, divided by the width of the widest grid. The error of a variance from two means is about as
// large as the spread. The largest noise of a kernel that adds noise is at least 16 times as large, which is
// half of that width. docs/numerics.md says why.
class RoundingSpread {
 public:
  static constexpr float kExplained = 8;
  // The last bits may decide which way a kernel takes at a few elements. An unexplained error is such a jump
  // if the element is right in any of the runs. At most one element in `kOneIn` may jump.
  static constexpr std::size_t kOneIn = 32;
  enum class Answer { explained, all_but_jumps, unexplained };

  // Refers to the errors.
  explicit RoundingSpread(const OutputErrors& errors);
  // Adds the errors after one rounding. Does nothing if there are not as many.
  void add(const OutputErrors& rounded);
  // Says whether enough runs gave a number at each error beyond the tolerance.
  bool is_measured() const;
  Answer answer() const { return answer_for(errors_); }
  // Says the same of the errors of another run, such as one on a GPU, with these spreads.
  Answer answer_for(const OutputErrors& others) const;

 private:
  struct Runs {
    std::uint8_t numbers = 0, right = 0;  // the runs that gave a number there, and a right one
  };
  const OutputErrors& errors_;
  std::vector<float> spread_;  // of each element
  std::vector<Runs> runs_at_;  // by element
  int runs_ = 0;
};

// By how much inputs move towards zero, in units of their type's epsilon. The smallest moves elements, and
// what is computed from them, by a few units. The largest also moves the sum of an element and a number
// some ten times as large. A value in TF32 mostly stays the same under all of them. One factor for all
// inputs moves numbers of nearly one size, such as those near 100, alike, and the errors with them.
// So a second round moves about half of the elements only. The sign of the number tells which half.
inline constexpr double kNudges[] = {4, -8, -16, 32, 6, -12, 20, -28};

// Changes a tensor of 32 or 64 bits as the form says (NudgeForm). Other tensors stay as they are.
void nudge(const Nudge& by, at::Tensor& tensor);

// Finds out whether errors beyond the tolerance are rounding noise: whether nudges of the inputs change
// them. Over all nudges together a quarter of these errors must change, and a quarter of those above half
// of the largest. Noise of few units takes few values, so many stay the same by chance. docs/results/tolerances.md has the figures. An element at which the reference
// itself jumps says nothing: a task may look at the bits of its inputs, and each nudge changes these.
class RoundingNoise {
 public:
  // Refers to the errors.
  explicit RoundingNoise(const OutputErrors& errors);
  // Adds the errors after one nudge. Does nothing if there are not as many.
  void add(const OutputErrors& nudged);
  bool is_shown() const;

 private:
  struct Count {
    double all = 0, others = 0;
  };
  const OutputErrors& errors_;
  float largest_ = 0;
  Count beyond_, large_;
};

}  // namespace tritonsmith::gym::trial
