#include "gym/referee/timed_side.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "gym/referee/operators.h"

namespace tritonsmith::gym {

TimedSide::TimedSide(const Plan& plan, Replay& replay, GpuPlace& place,
                     std::vector<SavedState> state)
    : plan_(plan), replay_(replay), place_(place) {
  for (SavedState& each : state) {
    const Snapshot before = place.snapshots({&each.saved, 1}).front();
    if (!place.unchanged(each.bytes, before)) state_.push_back(std::move(each));
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    if (step.phase != Phase::forward) continue;
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || !leaves_unwritten(call->op)) {
      steps_.push_back(i);
      continue;
    }
    for (const int index : call->outputs)
      if (index >= 0) buffers_.push_back(replay.tensors().at(static_cast<std::size_t>(index)));
  }
}

void TimedSide::prepare(Filler filler) {
  const c10::InferenceMode no_gradients(true);
  const gpu::Driver& driver = place_.driver();
  for (SavedState& each : state_) each.bytes.copy_(each.saved);
  for (const at::Tensor& buffer : buffers_)
    if (buffer.storage().nbytes() > 0)
      driver.memset_async(reinterpret_cast<CUdeviceptr>(buffer.storage().data()),
                          static_cast<std::uint8_t>(filler), buffer.storage().nbytes(), nullptr);
}

std::optional<Stop> TimedSide::run(const std::function<void(std::size_t)>& after) {
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (auto stop = replay_.run_step(steps_[k])) return stop;
    if (after) after(k);
  }
  return std::nullopt;
}

std::vector<at::Tensor> TimedSide::outputs() const {
  const c10::InferenceMode no_gradients(true);
  std::vector<int> indices;
  append_tensors(plan_.outputs, indices);
  std::vector<at::Tensor> all;
  for (const int index : indices)
    all.push_back(replay_.tensors().at(static_cast<std::size_t>(index)).contiguous());
  return all;
}

}  // namespace tritonsmith::gym
