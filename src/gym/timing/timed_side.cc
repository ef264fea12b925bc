#include "gym/timing/timed_side.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "gym/plan/operators/operator_traits.h"
#include "gym/timing/round_schedule.h"

namespace tritonsmith::gym::timing {

TimedSide::TimedSide(const plan::Plan& plan, replay::Replay& replay, device::CudaDevice& device,
                     std::vector<trial::SavedState> state, bool forgets)
    : plan_(plan), replay_(replay), device_(device) {
  for (trial::SavedState& each : state) {
    const device::Snapshot before = device.snapshots({&each.saved, 1}).front();
    if (!device.unchanged(each.bytes, before)) state_.push_back(std::move(each));
  }
  replay.leave_fences();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const plan::PlanStep& step = plan.steps[i];
    if (step.phase != plan::Phase::forward) continue;
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || !plan::operators::leaves_unwritten(call->op)) {
      steps_.push_back(i);
      continue;
    }
    for (const int index : call->outputs) {
      if (index < 0) continue;
      reserved_.push_back(index);
      sets_[0].tensors.push_back(replay.tensors().at(static_cast<std::size_t>(index)));
    }
  }
  if (!forgets) return;
  for (const int index : replay::made_by_forward(plan, replay.tensors()))
    if (std::ranges::find(reserved_, index) == reserved_.end()) made_.push_back(index);
}

// Steps that make views of a buffer are repeated in each run, so they see the buffer that is bound.
void TimedSide::alternate_buffers() {
  std::int64_t bytes = 0;
  for (const at::Tensor& buffer : sets_[0].tensors)
    bytes += static_cast<std::int64_t>(buffer.storage().nbytes());
  if (!gym::timing::alternates_buffers(bytes, device_.facts().cache_bytes)) return;
  try {
    for (const at::Tensor& buffer : sets_[0].tensors)
      sets_[1].tensors.push_back(device_.filled(buffer));
    alternates_ = true;
  } catch (const c10::OutOfMemoryError&) {
    sets_[1].tensors.clear();
  }
}

std::optional<replay::Stop> TimedSide::prepare(tensors::Filler filler) {
  const c10::InferenceMode no_gradients(true);
  for (trial::SavedState& each : state_) each.bytes.copy_(each.saved);
  for (const int index : made_)
    device_.forget({&replay_.tensors().at(static_cast<std::size_t>(index)), 1});
  if (alternates_) {
    current_set_ = 1 - current_set_;
    for (std::size_t k = 0; k < reserved_.size(); ++k)
      replay_.bind(reserved_[k], sets_.at(current_set_).tensors[k]);
  }
  if (Buffers& now = sets_.at(current_set_); !now.poisoned) poison(now, filler);
  return replay_.draw_again();
}

std::int64_t TimedSide::poison_others(tensors::Filler filler, const PoisonBuffer& by_caller) {
  Buffers& others = sets_.at(1 - current_set_);
  return alternates_ && !others.poisoned ? poison(others, filler, by_caller) : 0;
}

bool TimedSide::will_poison(const cuda::Bytes& block) const {
  return alternates_ &&
         std::ranges::any_of(sets_.at(current_set_).tensors, [&](const at::Tensor& buffer) {
           return buffer.storage().data() == block.at && buffer.storage().nbytes() == block.count;
         });
}

std::int64_t TimedSide::poison(Buffers& buffers, tensors::Filler filler,
                               const PoisonBuffer& by_caller) {
  std::int64_t bytes = 0;
  for (const at::Tensor& buffer : buffers.tensors) {
    const std::size_t size = buffer.storage().nbytes();
    if (size > 0 && !(by_caller && by_caller(buffer)))
      device_.driver().memset_async(reinterpret_cast<CUdeviceptr>(buffer.storage().data()),
                                    static_cast<std::uint8_t>(filler), size, nullptr);
    bytes += static_cast<std::int64_t>(size);
  }
  buffers.poisoned = true;
  return bytes;
}

std::optional<replay::Stop> TimedSide::run(const std::function<void(std::size_t)>& after) {
  sets_.at(current_set_).poisoned = false;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (auto stop = replay_.run_step(steps_[k])) return stop;
    if (after) after(k);
  }
  return std::nullopt;
}

std::vector<at::Tensor> TimedSide::outputs() const {
  const c10::InferenceMode no_gradients(true);
  std::vector<int> indices;
  plan::append_tensors(plan_.outputs, indices);
  std::vector<at::Tensor> all;
  for (const int index : indices)
    all.push_back(replay_.tensors()
                      .at(static_cast<std::size_t>(index))
                      .resolve_conj()
                      .resolve_neg()
                      .contiguous());
  return all;
}

void TimedSide::forget_copies(std::span<const at::Tensor> outputs) const {
  for (const at::Tensor& output : outputs) {
    const auto is_own = [&](const at::Tensor& tensor) {
      return tensor.defined() && tensor.storage().data() == output.storage().data();
    };
    if (!std::ranges::any_of(replay_.tensors(), is_own)) device_.forget({&output, 1});
  }
}

}  // namespace tritonsmith::gym::timing
