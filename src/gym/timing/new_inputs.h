// New inputs: what a candidate meets after its timed rounds, all of which were over the same
// inputs. Whatever a round left for the next, and wherever, is of no use on them: there a candidate
// must be right, and about as fast as in the rounds.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "data/finding.h"
#include "gym/timing/timed_check.h"

namespace tritonsmith::gym::timing {

// Milliseconds that one run of the candidate took.
using TimeOnce = std::function<tl::expected<double, replay::Stop>()>;

// What the candidate took on new inputs, one after the other until it was fast enough on one: in
// its first call on each, and then on the same again (the median of a few; as many as inputs on
// which the first was slow).
struct NewInputs {
  std::vector<double> first_ms, again_ms;
};

// `rounds_ms` is the median of the rounds. Changes the inputs of both sides. A candidate that is
// wrong is stopped.
tl::expected<NewInputs, replay::Stop> time_on_new_inputs(const TimedSides& sides,
                                                         tensors::Filler filler, double rounds_ms,
                                                         const TimeOnce& time_once);

// Rounds over the same inputs that were too fast for what forward takes on new ones. Where each
// first call is slower than those after it, that was remembered, and is refused. Where calls after
// the first are as slow, time follows from the data: a note.
std::optional<Finding> judge_new_inputs(double rounds_ms, const NewInputs& met);

}  // namespace tritonsmith::gym::timing
