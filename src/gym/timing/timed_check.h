// Checks the outputs that a candidate computed while it was timed.
#pragma once

#include <functional>
#include <optional>

#include "gym/timing/eager_settings.h"
#include "gym/timing/output_archive.h"
#include "gym/timing/timed_side.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::timing {

// The two sides of a timing, over the tensors of one finished trial.
struct TimedSides {
  trial::Sides& trial;
  device::CudaDevice& device;
  TimedSide& candidate;
  TimedSide& reference;
  Setting setting;                 // the setting of the timed rounds
  double tolerance_extension = 0;  // the extension that the trial needed
};

// Returns `eager` for a task whose own forward uses cuDNN: a candidate's numbers may then be as
// coarse as PyTorch's own. For all other tasks both sides are timed in full float32, by which the
// candidate is judged.
Setting timed_setting(const plan::Plan& task);
// How near a timed output must be to the reference's output.
struct Nearness {
  double tolerance_extension = 0;  // as in CompareOptions
  // How far the timed setting takes the reference itself from full float32, by
  // own_error_by_element(). A candidate's own cuDNN calls may round other products, such as those
  // of folded weights, so the candidate may be twice as far off.
  double coarseness = 0;
};

// Compares the candidate's outputs, which are in `tensors`, with the outputs that the reference
// made last. `oracle` has exact values, or is empty.
std::optional<VerdictError> compare_sides(const TimedSides& sides,
                                          const tensors::TensorTable& tensors,
                                          const tensors::TensorTable& oracle,
                                          const Nearness& nearness);

// Runs the reference until `is_right` accepts its outputs: first in full float32, then in the timed
// setting if that is another one, then in full float32 once more, with the coarseness known by
// then. `bring_inputs` restores the reference's inputs before all runs but the first. If the
// reference stops, only the task is at fault.
std::optional<replay::Stop> ask_until_right(
    const TimedSides& sides, const std::function<std::optional<replay::Stop>()>& bring_inputs,
    const std::function<bool(double coarseness)>& is_right);

// Runs the reference once on its present inputs, rounded otherwise if `nudge` says so. If it stops, only
// the task is at fault.
std::optional<replay::Stop> run_reference_in(const TimedSides& sides, Setting setting,
                                             const trial::Nudge& nudge = {});
replay::Stop as_task_failure(replay::Stop stop);

// Compares archived outputs of rounds with the reference on the inputs that it is bound to. Each
// round's outputs must agree with one of the reference's answers.
std::optional<replay::Stop> check_archive(const TimedSides& sides, const OutputArchive& archive);

}  // namespace tritonsmith::gym::timing
