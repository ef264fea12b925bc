// Gives a candidate new inputs after its timed rounds, which all ran on the same inputs. Results
// that a round left for the next one are of no use on new inputs. The candidate must be right on
// them, and about as fast as in the rounds.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "data/finding.h"
#include "gym/timing/timed_check.h"

namespace tritonsmith::gym::timing {

// Runs the candidate once and returns the time in milliseconds.
using TimeOnce = std::function<tl::expected<double, replay::Stop>()>;

// The candidate's times on new inputs, in milliseconds. The inputs follow one another until one
// time is low enough. `first_ms` has the first run on each input. Where that run was slow,
// `again_ms` has the median of a few more runs on the same input.
struct NewInputs {
  std::vector<double> first_ms, again_ms;
};

// `rounds_ms` is the median of the rounds in milliseconds. The call changes the inputs of both
// sides. If the candidate is wrong on new inputs, it returns a Stop.
tl::expected<NewInputs, replay::Stop> time_on_new_inputs(const TimedSides& sides,
                                                         tensors::Filler filler, double rounds_ms,
                                                         const TimeOnce& time_once);

// Returns a finding if the rounds were too fast for what forward takes on new inputs. If each
// first run is slower than the runs after it, forward remembered results, and the finding
// refuses the candidate. If the later runs are as slow, the time depends on the data, and the
// finding is a note.
std::optional<Finding> judge_new_inputs(double rounds_ms, const NewInputs& met);

}  // namespace tritonsmith::gym::timing
