// Which of the reference's weights may take other values than its constructor gave them, so that
// one which a candidate ignores shows: a norm's ones and zeros hide whether they are used. Noise
// must reach all that a candidate may have made of such a weight. Where its constructor makes
// tensors of its own out of it (packs, folds, casts), it is replayed once more and finds the noise
// at the step that made the constant.
#pragma once

#include <set>
#include <vector>

#include "gym/referee/weights.h"

namespace tritonsmith::gym {

// After this step of its constructor a tensor of the candidate's holds what the reference's does.
struct EarlyWeight {
  std::size_t step = 0;
  int reference = 0;
  int candidate = 0;
};

struct ChangeableWeights {
  std::set<int> tensors;  // of the reference's plan
  std::vector<EarlyWeight> early;
};

// Both sides as their constructors, replayed under one seed, left them. Left as they are: what the
// reference's own constructor made other tensors of; buffers that the candidate has not; and what
// it may hold in a tensor of its own in a way that no step shows, since the value of the weight
// stands there often enough.
ChangeableWeights changeable_weights(const ModuleSide& reference, const ModuleSide& candidate,
                                     const std::vector<WeightPair>& pairs);

}  // namespace tritonsmith::gym
