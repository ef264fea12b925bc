// Changes the reference's weights for a trial. A norm's ones and zeros hide whether a kernel uses
// them. So do drawn weights that are tiny beside what they are added to, and whatever else a
// constructor always gives: unit norms, orthogonal rows, zeros above a diagonal.
#pragma once

#include "base/rng.h"
#include "gym/trial/perturb/perturbation.h"
#include "gym/trial/weights/changeable_weights.h"

namespace tritonsmith::gym::trial {

// How far weights move from the values that their constructor gave them.
//   gentle  adds noise of size 0.1 to weights that are not random.
//   strong  moves each of their elements by 1 to 2, up or down, so that factors are negative too.
//           Small random weights grow until a sum of products is as large as its inputs, and
//           vectors until they are of size 1. Otherwise a small bias would vanish beside its sum in
//           16 bits, and a small attention would be flat. Then each row of them gets a factor of
//           its own, and each element some noise.
//   heavy   makes random weights as large as in a strong change, then 32 times as large, and a few
//           elements 8 times as large as that.
enum class WeightChange { none, gentle, strong, heavy };
WeightChange weight_change(Perturbation kind);

void change_weights(const plan::Plan& task, const ChangeableWeights& changeable, Perturbation kind,
                    WeightChange change, Rng& rng, tensors::TensorTable& tensors);

}  // namespace tritonsmith::gym::trial
