// The RateMeter of a GPU. It measures as rounds are timed (timed_run.h): the device pauses until the
// host has queued everything, so the host's own time does not count.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <functional>

#include "gym/device/cuda_device.h"
#include "gym/tensors/scalar_type.h"
#include "gym/timing/ceilings.h"

namespace tritonsmith::gym::timing {
namespace {

class GpuMeter final : public RateMeter {
 public:
  explicit GpuMeter(std::unique_ptr<device::CudaDevice> device) : device_(std::move(device)) {}

  Result<double> seconds_to_copy(double bytes) override {
    // Several copies share the cost of the two marks.
    constexpr int copies = 4;
    const auto make = [&] {
      if (source_.defined()) return;
      source_ = at::zeros({static_cast<std::int64_t>(bytes)},
                          at::dtype(at::kByte).device(device_->torch_device()));
      target_ = at::empty_like(source_);
    };
    TRY_ASSIGN(const double seconds, seconds_of(make, [&] {
                 for (int i = 0; i < copies; ++i) target_.copy_(source_);
               }));
    return seconds / copies;
  }

  Result<double> seconds_to_multiply(plan::DType type, int side) override {
    const c10::ScalarType scalar = tensors::scalar_type_of(type);
    const auto make = [&] {
      if (factor_.defined() && factor_.scalar_type() == scalar) return;
      factor_ = at::randn({side, side}, at::dtype(scalar).device(device_->torch_device()));
      product_ = at::empty_like(factor_);
    };
    at::globalContext().setAllowTF32CuBLAS(true);
    auto seconds = seconds_of(make, [&] { at::mm_out(product_, factor_, factor_); });
    at::globalContext().setAllowTF32CuBLAS(false);
    return seconds;
  }

  Result<double> seconds_to_launch() override {
    const auto make = [&] {
      if (!word_.defined())
        word_ = at::zeros({1}, at::dtype(at::kFloat).device(device_->torch_device()));
    };
    return seconds_of(make, [&] { word_.fill_(1); });
  }

 private:
  // The first call of an operator allocates memory and loads code. `make` and one run come before
  // the pause, so that neither waits for a device that waits for the host.
  Result<double> seconds_of(const std::function<void()>& make, const std::function<void()>& work) {
    const c10::InferenceMode no_gradients(true);
    constexpr std::chrono::seconds patience{10};
    TRY_ASSIGN(const auto marks, device_->events(2));
    try {
      make();
      work();
      device_->kernels().hold();
      marks[0].record();
      work();
      marks[1].record();
      device_->kernels().release();
    } catch (const std::exception& error) {
      device_->kernels().release();
      const std::string what = error.what();
      return fail("LibTorch cannot use it: {}", what.substr(0, what.find('\n')));
    }
    if (auto error = device_->wait(Deadline::after(patience))) return fail("{}", error->message);
    return marks[1].milliseconds_since(marks[0]) / 1e3;
  }

  std::unique_ptr<device::CudaDevice> device_;
  at::Tensor source_, target_, factor_, product_, word_;
};

}  // namespace

Result<std::unique_ptr<RateMeter>> meter_of_gpu(int ordinal) {
  TRY_ASSIGN(auto device, device::CudaDevice::open(ordinal));
  return std::make_unique<GpuMeter>(std::move(device));
}

}  // namespace tritonsmith::gym::timing
