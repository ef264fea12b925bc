// CudaDevice: one NVIDIA GPU as the referee's device. Only this class loads LibTorch's CUDA half,
// so that the same program starts on a machine without a driver. Memory that an operator leaves
// unwritten gets the filler, and a guard zone on each side that is checked after each run. Salted
// fingerprints tell whether a tensor changed, so that no second copy of it lies in memory. The
// referee's own kernels compare values.
#pragma once

#include <memory>

#include "base/lease.h"
#include "gym/cuda/device_kernels.h"
#include "gym/device/device.h"

namespace tritonsmith::gym::device {

class CudaDevice final : public Device, public compare::DeviceComparison {
 public:
  // Opens the GPU. If a lease is given, the first use of the device waits for it for a few seconds,
  // so that a spare referee that starts does not disturb another's timing.
  static Result<std::unique_ptr<CudaDevice>> open(int ordinal, Lease* lease = nullptr);

  const cuda::Driver& driver() const { return driver_; }
  cuda::DeviceKernels& kernels() { return *kernels_; }
  const cuda::GpuFacts& facts() const { return facts_; }
  const std::string& nvrtc() const { return nvrtc_; }  // the path of the CUDA compiler's library
  Deadline patience() const { return patience_; }
  // Sets the bytes of each guard zone around tensors from filled(), beginning with the next
  // begin().
  // Catches a block of a thousand threads without a mask.
  static constexpr std::int64_t kNarrowGuard = 16 << 10;
  // Catches a wrong stride or an invented address.
  static constexpr std::int64_t kWideGuard = 16 << 20;
  void guard_with(std::int64_t bytes) { next_guard_bytes_ = bytes; }
  // Returns at least `count` events. They are made once and kept.
  Result<std::span<cuda::Event>> events(std::size_t count);
  // Describes a fault of the device as an error, and remembers if the context is lost.
  VerdictError fault(CUresult result);

  c10::Device torch_device() const override { return device_; }
  void seed(std::uint64_t seed) override;
  std::optional<at::Tensor> draw(Distribution distribution, at::IntArrayRef sizes) override;
  void begin(tensors::Filler filler, std::int64_t cap_bytes) override;
  void set_filler(tensors::Filler filler) override { filler_ = filler; }
  void end() override;
  bool refused() const override { return refused_; }
  void note_refusal() override { refused_ = true; }
  std::int64_t capacity(std::int64_t budget) const override;
  at::Tensor filled(at::Tensor made) override;
  at::Tensor fenced(at::Tensor made) override;
  std::optional<VerdictError> wait(Deadline deadline) override;
  void set_patience(Deadline deadline) override { patience_ = deadline; }
  // True also if work of LibTorch lost the context, such as an assertion of one of its kernels.
  bool spent() const override;
  std::vector<Snapshot> snapshots(std::span<const at::Tensor> tensors) override;
  bool change_and_copy(std::span<DrawnInput> inputs) override;
  Snapshot copied(std::size_t nth) const override;
  bool unchanged(const at::Tensor& now, const Snapshot& before) override;
  std::vector<bool> each_unchanged(std::span<const at::Tensor> now,
                                   std::span<const Snapshot> before) override;
  void foresee(std::span<const at::Tensor> now) override;
  compare::DeviceComparison* comparison() override { return this; }
  void release() override;
  void forget(std::span<const at::Tensor> tensors) override;

  compare::Mismatch compare(const at::Tensor& candidate, const at::Tensor& reference,
                            const at::Tensor& oracle,
                            const compare::CompareOptions& comparison) override;
  compare::QuickJudgement judge(const at::Tensor& candidate, const at::Tensor& reference,
                                const compare::ExactValues& exact,
                                const compare::CompareOptions& comparison) override;
  compare::ReferenceQuality measure(const at::Tensor& reference, const at::Tensor& oracle) override;

 private:
  CudaDevice(const cuda::Driver& driver, cuda::GpuFacts facts, int ordinal)
      : driver_(driver),
        facts_(std::move(facts)),
        device_(c10::kCUDA, static_cast<c10::DeviceIndex>(ordinal)) {}
  // Makes the context and loads the referee's own kernels into it.
  Status take_device(const std::string& cubin);
  std::optional<VerdictError> check_guards(Deadline deadline);
  // Returns new memory between guard zones, with the size of `made` and undefined content.
  at::Tensor guarded(const at::Tensor& made);
  std::int64_t kept_bytes() const;
  void forget_copy(const at::Tensor& copy, const at::Tensor& original);

  const cuda::Driver& driver_;
  cuda::GpuFacts facts_;
  c10::Device device_;
  std::unique_ptr<cuda::DeviceKernels> kernels_;
  std::vector<cuda::Event> events_;
  std::string nvrtc_;
  tensors::Filler filler_ = tensors::Filler::zero;
  Deadline patience_ = Deadline::never();
  std::uint64_t salt_ = 0, seed_ = 0, draws_ = 0, fills_ = 0;
  bool refused_ = false, spent_ = false;
  std::int64_t guard_bytes_ = kNarrowGuard, next_guard_bytes_ = kNarrowGuard;
  // The tensors whose fingerprints are queued, in slots behind those of timed rounds.
  std::vector<const void*> foreseen_;
  static constexpr std::size_t kForeseenSlot = cuda::DeviceKernels::kRounds / 2;
  std::vector<at::Tensor> guarded_;  // blocks with a guard zone at each end
};

}  // namespace tritonsmith::gym::device
