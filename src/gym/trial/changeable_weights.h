// Which of the reference's weights may take other values than its constructor gave them, so that
// one which a candidate ignores shows: a norm's ones and zeros hide whether they are used. The
// change must reach all that a candidate may have made of such a weight. Where its constructor
// makes tensors of its own out of it (packs, folds, casts), it is replayed once more and finds the
// change at the step that made the weight, or the same values instead of it.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "gym/trial/weights.h"

namespace tritonsmith::gym::trial {

// After this step of its constructor a tensor of the candidate's holds what the reference's does,
// from its element `first` on.
struct EarlyWeight {
  std::size_t step = 0;
  int reference = 0;
  int candidate = 0;
  std::int64_t first = 0;
};

// Tensors of the reference's plan.
struct ChangeableWeights {
  std::set<int> given;       // parameters in whose values is no chance
  std::set<int> drawn;       // parameters that a generator fills
  std::set<int> statistics;  // buffers of one value; also in `given`
  // Of those given that the candidate has not by name: the first that has the same values. They
  // change alike, since nobody knows which of several twins stands for which.
  std::map<int, int> alike;
  std::vector<EarlyWeight> early;
};

// Both sides as their constructors, replayed under one seed, left them. Left as they are: what the
// reference's own constructor made other tensors of; buffers of several values (tables, masks) and
// of one number; tables that are frozen parameters; and buffers that the candidate has not. But the
// running statistics that a norm's forward reads change always.
ChangeableWeights changeable_weights(const ModuleSide& reference, const ModuleSide& candidate,
                                     const std::vector<WeightPair>& pairs);

}  // namespace tritonsmith::gym::trial
