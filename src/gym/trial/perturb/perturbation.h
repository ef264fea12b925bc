// Perturbation: the kinds of changes that trials make to inputs and weights, in one table. The
// task's own plan draws inputs and weights from secret seeds, and a perturbation changes what it
// drew. A candidate cannot foresee the change, and an honest kernel is right on all of them.
// input_changes.h and weight_changes.h make the changes.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "gym/plan/analysis/input_draws.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::trial {

using plan::analysis::input_tensors;

// In this list "draws" are the values of a random generator. Many inputs are draws. Others follow
// from draws, because the task scales, sorts or squares them. There the judge changes the draws
// before the task computes the input. So a sorted input stays sorted, and a positive one positive.
//   plain         leaves everything as the task draws it.
//   scaled        multiplies each floating input by a random factor between 0.5 and 3, of random
//                 sign where it follows from draws. Whole numbers become skewed. Inputs that always
//                 hold one value get a factor for each element.
//   sparse        sets most elements of draws to zero. Whole numbers become sorted, some elements
//                 of masks are exchanged, and zeros that the task always makes get values.
//   shifted       adds 100 to draws (800 in fp64). Sums of squares, and exponentials without a
//                 maximum subtracted, overflow.
//   lowered       subtracts 110 from draws (800 in fp64), whose exponentials are then 0.
//   small         multiplies draws by 1/20 (by 1/256 in 16 bits), where an epsilon counts.
//   tiny          makes whole inputs about as small as an epsilon, where forward takes a statistic of
//                 all elements of a tensor.
//   uneven        makes rows of zeros, of one value and in order, and puts single large elements at
//                 secret positions.
//   scattered     does the same without rows of one value, where these leave nothing to compare.
//   ragged        gives elements and blocks very different sizes, beyond the numbers with which
//                 forward compares.
//   enlarged      makes rows very large, so that a norm or a sum of them passes the numbers with which
//                 forward compares it.
//   below, above  subtract 4 from draws, or add 4, so that the greatest of a row is negative or the
//                 least positive. Draws between two bounds stay within them.
//   parted        subtracts 4 from the first draw, adds 4 to the second, and so on, so that
//                 differences have one sign too.
//   crossed       does the same with the opposite signs.
//   spiked        makes one element in some thousands of each 16-bit input 1024 times as large.
//   last_spiked   does the same to the last such input alone. If the input decides no scores, it
//                 may have 32 bits, and the last index of each dimension gets a large element.
//   tied          rounds inputs to halves, and puts the numbers with which forward compares there.
//   close         gives elements values that differ by their last digits, if forward compares
//                 inputs with each other or sorts them.
//   special       puts NaN, infinities and zeros of both signs among the elements, whichever the
//                 task tells apart.
//   heavy         makes weights that a generator fills very large. Only an overflow counts.
//   negated       changes the sign of draws. It runs if no other trial has shown whether a kernel
//                 does anything.
enum class Perturbation {
  plain,
  scaled,
  sparse,
  shifted,
  lowered,
  small,
  tiny,
  uneven,
  scattered,
  ragged,
  enlarged,
  below,
  above,
  parted,
  crossed,
  spiked,
  last_spiked,
  tied,
  close,
  special,
  heavy,
  negated
};
Perturbation perturbation_of_trial(int trial);

// Facts about a kind that the judge needs besides the change itself.
struct PerturbationRow {
  Perturbation kind;
  std::string_view what_is_done;  // "100 added to the inputs"; empty for ordinary kinds
  // It moves values by no more than the size of a random generator's values.
  bool moves_a_little = false;
  // It may make one score of an attention so large that the other values do not matter.
  bool spoils_scores = false;
  bool only_overflow_counts = false;
  // A correct kernel with a weak algorithm may lose digits under it (numerically_weak).
  bool shows_weakness = false;
  // The reference may give NaN and infinity under it, even if it gives none on the task's own
  // inputs.
  bool makes_specials = false;
  // It puts values exactly where forward compares or rounds. Each of them is known exactly, so no rounding
  // excuses another result (jumps.h).
  bool meets_jumps = false;
};
std::span<const PerturbationRow> perturbation_rows();
const PerturbationRow& row_of(Perturbation kind);

// Returns the extreme kinds that change this task's inputs or weights, without `negated`. Every
// candidate is tried on them after the ordinary kinds. The order is the table's. For a pointwise
// task, kinds that give each element a value of its own come first.
std::vector<Perturbation> extreme_perturbations(const plan::Plan& task);
// The facts of a task on which the choice of its trials depends.
struct TaskForm {
  bool is_pointwise = false;  // each result depends on one element of the only input
  bool has_few_rows = false;  // not each kind of change finds a row in each drawn input
};
TaskForm form_of(const plan::Plan& task);
// Says whether `kind` tells nothing more about a candidate that was right under the kinds `right`.
bool says_what_others_said(Perturbation kind, const std::set<Perturbation>& right, TaskForm form);
bool is_extreme(Perturbation kind);
bool is_spiked(Perturbation kind);
// Says whether the task computes scores by a product and takes their exponentials (softmax).
// Rounding scores to 16 bits costs more than rounding other sums.
bool decides_by_scores(const plan::Plan& task);
// Returns the inputs from which such scores follow: the queries and keys of an attention, and not
// its values. A task without scores has none.
std::set<int> inputs_of_scores(const plan::Plan& task);
// Describes the change, as in "100 added to the inputs". Empty for kinds that are not extreme.
std::string_view what_is_done(Perturbation extreme);

// Returns a seed that follows from the job's secret, the purpose and the trial.
std::uint64_t trial_seed(std::string_view secret, std::string_view purpose, int trial);

}  // namespace tritonsmith::gym::trial

namespace tritonsmith {

template <>
inline constexpr auto enum_names<gym::trial::Perturbation> =
    names<gym::trial::Perturbation>({{gym::trial::Perturbation::plain, "plain"},
                                     {gym::trial::Perturbation::scaled, "scaled"},
                                     {gym::trial::Perturbation::sparse, "sparse"},
                                     {gym::trial::Perturbation::shifted, "shifted"},
                                     {gym::trial::Perturbation::lowered, "lowered"},
                                     {gym::trial::Perturbation::small, "small"},
                                     {gym::trial::Perturbation::tiny, "tiny"},
                                     {gym::trial::Perturbation::uneven, "uneven"},
                                     {gym::trial::Perturbation::scattered, "scattered"},
                                     {gym::trial::Perturbation::ragged, "ragged"},
                                     {gym::trial::Perturbation::enlarged, "enlarged"},
                                     {gym::trial::Perturbation::below, "below"},
                                     {gym::trial::Perturbation::above, "above"},
                                     {gym::trial::Perturbation::parted, "parted"},
                                     {gym::trial::Perturbation::crossed, "crossed"},
                                     {gym::trial::Perturbation::spiked, "spiked"},
                                     {gym::trial::Perturbation::last_spiked, "last_spiked"},
                                     {gym::trial::Perturbation::tied, "tied"},
                                     {gym::trial::Perturbation::close, "close"},
                                     {gym::trial::Perturbation::special, "special"},
                                     {gym::trial::Perturbation::heavy, "heavy"},
                                     {gym::trial::Perturbation::negated, "negated"}});

}  // namespace tritonsmith
