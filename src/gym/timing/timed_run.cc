#include "gym/timing/timed_run.h"

#include <ATen/ATen.h>

#include "gym/timing/round_schedule.h"

namespace tritonsmith::gym::timing {

void TimedRun::reserve() {
  flush_ = at::empty({flush_bytes(device_.facts().cache_bytes)},
                     at::dtype(at::kByte).device(device_.torch_device()));
}

void TimedRun::flush(TimedSide& side) {
  const std::int64_t left = flush_.numel() - side.poison_others(filler_, poison_);
  if (left > 0)
    device_.driver().memset_async(reinterpret_cast<CUdeviceptr>(flush_.mutable_data_ptr()), 0,
                                  static_cast<std::size_t>(left), nullptr);
}

std::optional<replay::Stop> TimedRun::queue(TimedSide& side, cuda::Event& before,
                                            cuda::Event& after) {
  device_.kernels().hold();
  flush(side);
  before.record();
  auto stop = side.run();
  after.record();
  device_.kernels().release();
  return stop;
}

std::optional<replay::Stop> TimedRun::queue_steps(TimedSide& side, std::span<cuda::Event> marks) {
  device_.kernels().hold();
  flush(side);
  marks[0].record();
  marks[1].record();  // what a mark itself costs
  auto stop = side.run([&](std::size_t k) { marks[k + 2].record(); });
  device_.kernels().release();
  return stop;
}

std::optional<replay::Stop> late_fault(device::CudaDevice& device) {
  if (auto error = device.wait(device.patience()))
    return replay::Stop{.error = std::move(*error), .fault = Fault::candidate};
  return std::nullopt;
}

replay::Stop infrastructure_fault(const std::string& message) {
  return {.error = {.error_class = ErrorClass::referee_failed, .message = message},
          .fault = Fault::infrastructure};
}

}  // namespace tritonsmith::gym::timing
