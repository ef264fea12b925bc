// TimedSide: one side of a timing, the candidate's forward or the reference's, ready to be run
// again and again over the tensors of a finished trial. Steps that only reserve memory are not
// repeated: their buffers stay, and are poisoned outside the clock.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gym/referee/gpu_place.h"
#include "gym/referee/trial.h"

namespace tritonsmith::gym {

class TimedSide {
 public:
  // `state` is what forward found in the trial; of it only what forward changed is kept, to be put
  // back before each round.
  TimedSide(const Plan& plan, Replay& replay, GpuPlace& place, std::vector<SavedState> state);

  // Outside the clock.
  void prepare(Filler filler);
  // Inside it. `after`, where given, is called when a step has been queued.
  std::optional<Stop> run(const std::function<void(std::size_t)>& after = {});

  bool changes_state() const { return !state_.empty(); }
  const std::vector<std::size_t>& steps() const { return steps_; }
  const Plan& plan() const { return plan_; }
  Replay& replay() { return replay_; }
  // Contiguous, as they are now.
  std::vector<at::Tensor> outputs() const;

 private:
  const Plan& plan_;
  Replay& replay_;
  GpuPlace& place_;
  std::vector<SavedState> state_;
  std::vector<std::size_t> steps_;
  std::vector<at::Tensor> buffers_;
};

}  // namespace tritonsmith::gym
