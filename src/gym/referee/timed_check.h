// Whether what a candidate made while it was timed is right.
#pragma once

#include <functional>
#include <optional>

#include "gym/referee/eager_settings.h"
#include "gym/referee/output_archive.h"
#include "gym/referee/timed_side.h"
#include "gym/referee/trial.h"

namespace tritonsmith::gym {

// The two sides of a timing, over the tensors of one trial.
struct TimedSides {
  Trial& trial;
  GpuPlace& place;
  TimedSide& candidate;
  TimedSide& reference;
  Setting setting;  // of the timed rounds
};

// Eager for a task whose own forward uses what the setting changes: there a candidate's numbers may
// be as coarse as PyTorch's own. For others a candidate that calls cuDNN is timed in full float32,
// which it is held to.
Setting timed_setting(const Plan& task);
// How near a timed output must be to the reference's.
struct Nearness {
  double leeway = 0;  // as in CompareOptions
  // How far the setting that was timed takes the reference itself from full float32, by
  // own_error_by_element(): a candidate's own calls of cuDNN round other products (of folded
  // weights, say), so it may be twice as far off.
  double coarseness = 0;
};

// The candidate's outputs as `tensors` has them, against what the reference made last, with exact
// values where `oracle` has them.
std::optional<VerdictError> compare_sides(const TimedSides& sides, const TensorTable& tensors,
                                          const TensorTable& oracle, const Nearness& nearness);

// Asks the reference in full float32, then as it was timed if that is another setting, then in full
// float32 once more, where its coarseness is known; until `is_right`, to which it gives the
// coarseness, says so of what the reference made. `bring_inputs` makes its inputs what they were;
// for the first answer they are. A stop of the reference is nobody's fault but the task's.
std::optional<Stop> ask_until_right(const TimedSides& sides,
                                    const std::function<std::optional<Stop>()>& bring_inputs,
                                    const std::function<bool(double coarseness)>& is_right);

// Runs the reference once, on what its inputs hold. A stop of it is nobody's fault but the task's.
std::optional<Stop> run_reference_in(const TimedSides& sides, Setting setting);
Stop as_task_failure(Stop stop);

// The outputs of rounds that did not give the trial's bits, against the reference on the inputs
// that it is now bound to: by one of its answers each must be right.
std::optional<Stop> check_archive(const TimedSides& sides, const OutputArchive& archive);

}  // namespace tritonsmith::gym
