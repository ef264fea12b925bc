// Compares the candidate's outputs with the reference's, and measures how exact the reference
// is. One pass on the device finds most candidates right. Only the other candidates are
// examined closely.
#pragma once

#include <optional>

#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

struct ComparedValues {
  tensors::TensorTable exact;      // the reference in float64; empty if there is none
  compare::CompareOptions how;     // the options with the widened tolerance
  double tolerance_extension = 0;  // the extension that the one output needed; 0 with several
};

// Writes the difference, the numerics and the facts about the reference into the result. The
// comparison ends early if the result then has a stop.
ComparedValues compare_values(Sides& sides, std::optional<tensors::TensorTable> oracle_inputs,
                              TrialResult& result);

// Puts the indices of the candidate's tensors in place of the reference's, and of those in float64, where both
// name equal numbers of the reference (compare/order_ties.h). Returns false if the candidate has a list that is
// no order.
bool take_order_of_ties(const Sides& sides, const tensors::TensorTable& candidate,
                        const tensors::TensorTable& exact);

// Answers TrialConfig::asked.
void answer_question(Sides& sides, TrialResult& result);

}  // namespace tritonsmith::gym::trial
