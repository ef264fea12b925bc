// Finds the reference's weights that may take other values than its constructor gave them. A
// changed weight shows whether a candidate ignores it: a norm's ones and zeros would hide that. The
// change must reach every tensor that a candidate made from such a weight. Its constructor may
// pack, fold or cast the weight. The constructor is then replayed once more, and finds the changed
// values at the step that made the weight or a copy of it.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "gym/trial/weights/weights.h"

namespace tritonsmith::gym::trial {

// After this step of the constructor, the candidate's tensor takes the values of the reference's
// tensor, from the candidate's element `first` on.
struct EarlyWeight {
  std::size_t step = 0;
  int reference = 0;
  int candidate = 0;
  std::int64_t first = 0;
};

// All tensors are indices into the reference's plan.
struct ChangeableWeights {
  std::set<int> given;       // parameters and buffers whose values are not random
  std::set<int> drawn;       // parameters that a generator fills
  std::set<int> statistics;  // buffers of one value; also in `given`
  std::set<int> numbers;     // buffers of one number; also in `given`
  // Maps each given parameter that the candidate does not hold to the first one with the same
  // values. Parameters with equal values change alike, since nobody knows which copy stands for
  // which of them.
  std::map<int, int> alike;
  std::vector<EarlyWeight> early;
};

// Both sides must be as their constructors, replayed under one seed, left them. Some weights stay
// as they are: those from which the reference's own constructor made other tensors; buffers of
// several values (tables, masks); and tables that are frozen parameters. A buffer of one number
// changes if the candidate has it, for it may be written in the code of others. Every other buffer
// changes whether the candidate has it or not: who lacks it has taken its values for granted.
ChangeableWeights changeable_weights(const ModuleSide& reference, const ModuleSide& candidate,
                                     const std::vector<WeightPair>& pairs);

}  // namespace tritonsmith::gym::trial
