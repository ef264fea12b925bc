// New inputs: what a candidate meets after its timed rounds, all of which were over the same
// inputs. Whatever a round left for the next, and wherever, is of no use on them: there a candidate
// must be right, and about as fast as in the rounds.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "gym/referee/timed_side.h"

namespace tritonsmith::gym {

// The two sides of a timing, over the tensors of one trial.
struct TimedSides {
  Trial& trial;
  GpuPlace& place;
  TimedSide& candidate;
  TimedSide& reference;
};

// The candidate's outputs as `tensors` has them, against what the reference made last.
std::optional<VerdictError> compare_sides(const TimedSides& sides, const TensorTable& tensors,
                                          const TensorTable& oracle, double leeway);

// A stop of the reference is nobody's fault but the task's.
Stop as_task_failure(Stop stop);

// Milliseconds that one run of the candidate took.
using TimeOnce = std::function<tl::expected<double, Stop>()>;

// `rounds_ms` is the median of the rounds. Changes the inputs of both sides. A candidate that is
// never fast enough gets a finding, one that is wrong is stopped.
std::optional<Stop> meet_new_inputs(const TimedSides& sides, Filler filler,
                                    const TimeOnce& time_once, double rounds_ms,
                                    std::vector<Finding>& findings);

// Whether rounds over the same inputs were too fast for what forward takes on new ones, at best.
std::optional<Finding> find_remembered_results(double rounds_ms, double new_inputs_ms);

}  // namespace tritonsmith::gym
