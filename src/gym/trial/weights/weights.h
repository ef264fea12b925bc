// Gives both sides equal weights. The candidate's constructor is replayed under the same seed as
// the reference's, so that modules built alike start alike. Each reference parameter or buffer is
// then matched with one of the candidate's:
//   1. with one of the same name, shape and dtype;
//   2. or else with one of the same shape, dtype and content after that seeded construction (a
//      renamed module): parameters with parameters and buffers with buffers, in order. A tensor
//      that is calculated from others matches neither a weight of one repeated value, nor a
//      weight that one of those others equals.
// A matched tensor takes the reference's values in place, so that views of it follow. A tensor
// without a match keeps the values of the candidate's constructor. A candidate may hold its weights
// fused or transposed, built from the same draws; only its results count.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/verdict.h"
#include "gym/plan/plan.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::trial {

struct WeightPair {
  std::string name;  // the reference's
  int reference = 0;
  int candidate = 0;
};

struct ModuleSide {
  const plan::Plan& plan;
  const tensors::TensorTable& tensors;  // after the phase init
};

std::vector<WeightPair> match_weights(const ModuleSide& reference, const ModuleSide& candidate);

// Returns all tensors that forward or its launches read, or that forward returns.
std::set<int> read_by_forward(const plan::Plan& plan);

// Copies the reference's values over the candidate's. A tensor whose elements share memory cannot
// take them; the error names it.
std::optional<VerdictError> bind_weights(const std::vector<WeightPair>& pairs,
                                         const tensors::TensorTable& reference,
                                         tensors::TensorTable& candidate);

}  // namespace tritonsmith::gym::trial
