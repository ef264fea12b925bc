// Whether what a candidate made while it was timed is right.
#pragma once

#include <functional>
#include <optional>

#include "gym/timing/eager_settings.h"
#include "gym/timing/output_archive.h"
#include "gym/timing/timed_side.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::timing {

// The two sides of a timing, over the tensors of one trial.
struct TimedSides {
  trial::Trial& trial;
  device::CudaDevice& device;
  TimedSide& candidate;
  TimedSide& reference;
  Setting setting;  // of the timed rounds
};

// Eager for a task whose own forward uses what the setting changes: there a candidate's numbers may
// be as coarse as PyTorch's own. For others a candidate that calls cuDNN is timed in full float32,
// which it is held to.
Setting timed_setting(const plan::Plan& task);
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
std::optional<VerdictError> compare_sides(const TimedSides& sides,
                                          const tensors::TensorTable& tensors,
                                          const tensors::TensorTable& oracle,
                                          const Nearness& nearness);

// Asks the reference in full float32, then as it was timed if that is another setting, then in full
// float32 once more, where its coarseness is known; until `is_right`, to which it gives the
// coarseness, says so of what the reference made. `bring_inputs` makes its inputs what they were;
// for the first answer they are. A stop of the reference is nobody's fault but the task's.
std::optional<replay::Stop> ask_until_right(
    const TimedSides& sides, const std::function<std::optional<replay::Stop>()>& bring_inputs,
    const std::function<bool(double coarseness)>& is_right);

// Runs the reference once, on what its inputs hold. A stop of it is nobody's fault but the task's.
std::optional<replay::Stop> run_reference_in(const TimedSides& sides, Setting setting);
replay::Stop as_task_failure(replay::Stop stop);

// The outputs of rounds that did not give the trial's bits, against the reference on the inputs
// that it is now bound to: by one of its answers each must be right.
std::optional<replay::Stop> check_archive(const TimedSides& sides, const OutputArchive& archive);

}  // namespace tritonsmith::gym::timing
