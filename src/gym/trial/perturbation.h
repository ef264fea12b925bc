// Perturbations: what each trial does to the inputs and weights that the task's own plan draws from
// secret seeds. A candidate cannot foresee them, and an honest kernel is right on all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "gym/device/device.h"
#include "gym/plan/plan.h"
#include "gym/trial/changeable_weights.h"

namespace tritonsmith::gym::trial {

// plain: as the task draws them. scaled: each floating input times a random factor between 0.5 and
// 3 of random sign. sparse: most elements zero, where the input came straight from a random
// generator (else scaled: a triangular or symmetric input keeps its structure under scaling only).
// shifted: inputs straight from a generator plus 100, which sums of squares and exponentials
// without a maximum taken off do not survive. small: the same times 1/20, where an epsilon counts.
// below and above: the same minus and plus 4, so that the greatest of a row is negative and the
// least positive; parted and crossed: the first input minus 4, the second plus 4, in turn, and the
// other way round, so that differences are of one sign too. spiked: of inputs in 16 bits one
// element in some thousands 1024 times as large, so that a part of a row says nothing of the rest,
// and exponentials need their maximum; last_spiked: the same of the last such input alone. heavy:
// weights that a generator fills times 32, where only overflowing counts. negated: each floating
// input times -1, which decides where no other trial has shown whether a kernel does anything.
// Integers are never changed: they may be indices.
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

// Further kinds that every candidate is tried on: those from shifted to heavy that change this
// task's inputs or weights, each in a way of its own.
std::vector<Perturbation> extreme_perturbations(const plan::Plan& task);
bool is_extreme(Perturbation kind);
bool is_spiked(Perturbation kind);
// Whether products become scores, of which exponentials are taken. Rounding scores to 16 bits
// costs more than rounding other sums.
bool decides_by_scores(const plan::Plan& task);
// Whether the kind moves inputs by no more than the size of a random generator's values.
bool moves_a_little(Perturbation kind);
// "100 added to the inputs".
std::string_view what_is_done(Perturbation extreme);

// A seed that follows from the job's secret, what it is for, and the trial.
std::uint64_t trial_seed(std::string_view secret, std::string_view purpose, int trial);

// The distinct tensors among the plan's inputs, in order.
std::vector<int> input_tensors(const plan::Plan& plan);

// The change that this perturbation makes to each of the task's drawn inputs, in their order.
std::vector<device::InputChange> input_changes(const plan::Plan& task, Perturbation kind, Rng& rng,
                                               const tensors::TensorTable& tensors);
// Changes one drawn input in place.
void change_input(const device::InputChange& change, at::Tensor& tensor);
void perturb_inputs(const plan::Plan& task, Perturbation kind, Rng& rng,
                    tensors::TensorTable& tensors);

// How far weights move from what their constructor gave them. gentle: weights that are not random
// get noise of size 0.1. strong: each of their elements moves by 1 to 2, up or down, so that
// factors
// are negative too. Random weights that are smaller grow until a sum of products is as large as its
// inputs, and vectors until they are of size 1: a small bias is nothing beside its sum in 16 bits,
// and a small attention is flat. heavy: random weights times 32.
enum class WeightChange { none, gentle, strong, heavy };
WeightChange weight_change(Perturbation kind);

void change_weights(const plan::Plan& task, const ChangeableWeights& changeable, Perturbation kind,
                    WeightChange change, Rng& rng, tensors::TensorTable& tensors);

}  // namespace tritonsmith::gym::trial
