// New inputs for a candidate after its timed rounds, which all ran on the same inputs. Whatever a
// round left for the next is of no use on new inputs. The candidate must be right on them, and
// about
// as fast as in the rounds.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "data/finding.h"
#include "gym/timing/timed_check.h"

namespace tritonsmith::gym::timing {

// Milliseconds that one run of the candidate took.
using TimeOnce = std::function<tl::expected<double, replay::Stop>()>;

// Times of the candidate on new inputs, one input after the other, until one time is low enough.
// They
// hold its first call on each input. Where that was slow, they also hold the median of a few more.
struct NewInputs {
  std::vector<double> first_ms, again_ms;
};

// `rounds_ms` is the median of the rounds. This changes the inputs of both sides. A wrong candidate
// comes back as a Stop.
tl::expected<NewInputs, replay::Stop> time_on_new_inputs(const TimedSides& sides,
                                                         tensors::Filler filler, double rounds_ms,
                                                         const TimeOnce& time_once);

// A finding where the rounds were too fast for what forward takes on new inputs. If each first call
// is slower than those after it, forward remembered results: the candidate is refused. If later
// calls are as slow, the time follows from the data: this is a note.
std::optional<Finding> judge_new_inputs(double rounds_ms, const NewInputs& met);

}  // namespace tritonsmith::gym::timing
