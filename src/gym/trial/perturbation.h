// Perturbations: the changes that trials make to the inputs and weights. The task's own plan
// draws these from secret seeds. A candidate cannot foresee them, and an honest kernel is right
// on all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "gym/device/device.h"
#include "gym/plan/plan.h"
#include "gym/trial/changeable_weights.h"

namespace tritonsmith::gym::trial {

// Each kind of trial changes inputs or weights in one way. A "free" input comes straight from a
// random generator.
//   plain         leaves everything as the task draws it.
//   scaled        multiplies each floating input by a random factor between 0.5 and 3. The factor
//                 of a random input has a random sign.
//   sparse        sets most elements of a free input to zero. Other inputs are scaled: a triangular
//                 or symmetric input keeps its structure under scaling only.
//   shifted       adds 100 to free inputs. Sums of squares, and exponentials without a maximum
//                 taken off, overflow.
//   lowered       subtracts 110 from free inputs, whose exponentials are then 0.
//   small         multiplies free inputs by 1/20 (by 1/256 in 16 bits), where an epsilon counts.
//   below, above  subtract 4 from free inputs, or add 4 (more if the task scales the drawn
//                 numbers), so that the greatest of a row is negative or the least positive.
//   parted        subtracts 4 from the first free input, adds 4 to the second, and so on, so that
//                 differences have one sign too.
//   crossed       does the same with the opposite signs.
//   spiked        makes one element in some thousands of each free 16-bit input 1024 times as
//                 large. A part of a row then says nothing of the rest, and exponentials need their
//                 maximum.
//   last_spiked   does the same to the last such input alone.
//   heavy         multiplies weights that a generator fills by 32. Only an overflow counts.
//   negated       multiplies each random floating input by -1. It decides where no other trial has
//                 shown whether a kernel does anything.
// Integers are never changed, because they may be indices.
enum class Perturbation {
  plain,
  scaled,
  sparse,
  shifted,
  lowered,
  small,
  below,
  above,
  parted,
  crossed,
  spiked,
  last_spiked,
  heavy,
  negated
};
Perturbation perturbation_of_trial(int trial);

// Returns the further kinds that every candidate is tried on: those from shifted to heavy that
// change this task's inputs or weights in a way of their own.
std::vector<Perturbation> extreme_perturbations(const plan::Plan& task);
bool is_extreme(Perturbation kind);
bool is_spiked(Perturbation kind);
// Says whether the task computes scores by a product and takes their exponentials (softmax).
// Rounding scores to 16 bits costs more than rounding other sums.
bool decides_by_scores(const plan::Plan& task);
// Says whether the kind moves inputs by no more than the size of a random generator's values.
bool moves_a_little(Perturbation kind);
// Describes the change, as in "100 added to the inputs". Empty for kinds that are not extreme.
std::string_view what_is_done(Perturbation extreme);

// Returns a seed that follows from the job's secret, the purpose and the trial.
std::uint64_t trial_seed(std::string_view secret, std::string_view purpose, int trial);

// Returns the distinct tensors among the plan's inputs, in order.
std::vector<int> input_tensors(const plan::Plan& plan);

// Returns the change that this perturbation makes to each drawn input, in the inputs' order.
std::vector<device::InputChange> input_changes(const plan::Plan& task, Perturbation kind, Rng& rng,
                                               const tensors::TensorTable& tensors);
// Changes one drawn input in place.
void change_input(const device::InputChange& change, at::Tensor& tensor);
void perturb_inputs(const plan::Plan& task, Perturbation kind, Rng& rng,
                    tensors::TensorTable& tensors);

// How far weights move from the values that their constructor gave them.
//   gentle  adds noise of size 0.1 to weights that are not random.
//   strong  moves each of their elements by 1 to 2, up or down, so that factors are negative too.
//           Small random weights grow until a sum of products is as large as its inputs, and
//           vectors until they are of size 1. Otherwise a small bias would vanish beside its sum in
//           16 bits, and a small attention would be flat.
//   heavy   multiplies random weights by 32.
enum class WeightChange { none, gentle, strong, heavy };
WeightChange weight_change(Perturbation kind);

void change_weights(const plan::Plan& task, const ChangeableWeights& changeable, Perturbation kind,
                    WeightChange change, Rng& rng, tensors::TensorTable& tensors);

}  // namespace tritonsmith::gym::trial
