// TimedSide: one side of a timing, the candidate's forward or the reference's. It runs again and
// again over the tensors of a finished trial. Steps that only reserve memory are not repeated:
// their buffers stay, and are poisoned outside the clock. If there is a second set of buffers, runs
// alternate between the two. Results of a candidate's operators are overwritten before the next
// run, so that no run finds what another one computed.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "gym/device/cuda_device.h"
#include "gym/trial/found_state.h"

namespace tritonsmith::gym::timing {

class TimedSide {
 public:
  // `state` holds the memory that forward found in the trial. Changes that forward makes there are
  // undone before each round. If `forgets` is true, no result of a run is left for the next one.
  TimedSide(const plan::Plan& plan, replay::Replay& replay, device::CudaDevice& device,
            std::vector<trial::SavedState> state, bool forgets);

  // Adds the second set of buffers if it is worth it (round_schedule.h) and there is room.
  void alternate_buffers();
  // Runs outside the clock, before each run: restores what forward changed, repeats its random
  // draws, and poisons the buffers of the next run, unless they are poisoned already.
  std::optional<replay::Stop> prepare(tensors::Filler filler);
  // Queues work that poisons a whole buffer, or returns false and leaves this to the caller.
  using PoisonBuffer = std::function<bool(const at::Tensor& buffer)>;
  // Runs outside the clock, after prepare(): poisons the buffers of the last run, which nobody
  // reads any more. It asks `by_caller` first, if given. Returns how many bytes were written, or 0
  // without a second set.
  std::int64_t poison_others(tensors::Filler filler, const PoisonBuffer& by_caller = {});
  // Says whether poison_others() will overwrite exactly this memory of the last run.
  bool will_poison(const cuda::Bytes& block) const;
  // Runs inside the clock. It calls `after`, if given, with the step's position once a step
  // has been queued.
  std::optional<replay::Stop> run(const std::function<void(std::size_t)>& after = {});

  bool changes_state() const { return !state_.empty(); }
  const std::vector<std::size_t>& steps() const { return steps_; }
  const plan::Plan& plan() const { return plan_; }
  replay::Replay& replay() { return replay_; }
  // Returns the outputs as they are now, made contiguous.
  std::vector<at::Tensor> outputs() const;
  // Overwrites those outputs that outputs() copied to make them contiguous.
  void forget_copies(std::span<const at::Tensor> outputs) const;

 private:
  const plan::Plan& plan_;
  replay::Replay& replay_;
  device::CudaDevice& device_;
  std::vector<trial::SavedState> state_;
  std::vector<std::size_t> steps_;
  struct Buffers {
    std::vector<at::Tensor> tensors;
    bool poisoned = false;
  };
  std::int64_t poison(Buffers& buffers, tensors::Filler filler, const PoisonBuffer& by_caller = {});
  std::vector<int> reserved_;  // which tensors of the plan the buffers are
  std::vector<int> made_;      // the tensors of the plan that are new memory in every run
  std::array<Buffers, 2> sets_;
  std::size_t current_set_ = 0;
  bool alternates_ = false;
};

}  // namespace tritonsmith::gym::timing
