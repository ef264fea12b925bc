// Whether what a candidate made while it was timed is right.
#pragma once

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
// Under which the reference is asked when a timing's outputs are looked at: whoever is right by one
// of these is right.
std::vector<Setting> accepted_settings(Setting timed);

// The candidate's outputs as `tensors` has them, against what the reference made last.
std::optional<VerdictError> compare_sides(const TimedSides& sides, const TensorTable& tensors,
                                          const TensorTable& oracle, double leeway);

// Runs the reference once, on what its inputs hold. A stop of it is nobody's fault but the task's.
std::optional<Stop> run_reference_in(const TimedSides& sides, Setting setting);
Stop as_task_failure(Stop stop);

// The outputs of rounds that did not give the trial's bits, against the reference on the inputs
// that it is now bound to: in full float32, and as it was timed. Right is who is right by one of
// the two.
std::optional<Stop> check_archive(const TimedSides& sides, const OutputArchive& archive);

}  // namespace tritonsmith::gym
