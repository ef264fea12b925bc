// CudaDevice: one NVIDIA GPU as the referee's device. LibTorch's CUDA half is loaded here, and only
// here, so that the same program starts where there is no driver. What operators leave unwritten
// gets the filler and, on both sides, guard zones whose bytes are looked at after each run; whether
// something changed is told by salted fingerprints, so that no second copy lies about; values are
// compared by kernels of our own.
#pragma once

#include <memory>

#include "base/lease.h"
#include "gym/cuda/device_kernels.h"
#include "gym/device/device.h"

namespace tritonsmith::gym::device {

class CudaDevice final : public Device, public compare::DeviceComparison {
 public:
  // Where a lease is given the device is first touched while nobody times on it: a spare referee
  // comes up while another judges.
  static Result<std::unique_ptr<CudaDevice>> open(int ordinal, Lease* lease = nullptr);

  const cuda::Driver& driver() const { return driver_; }
  cuda::DeviceKernels& kernels() { return *kernels_; }
  const cuda::GpuFacts& facts() const { return facts_; }
  const std::string& nvrtc() const { return nvrtc_; }  // the compiler's library
  Deadline patience() const { return patience_; }
  // How long the guard zones are of what filled() gives from the next begin() on.
  static constexpr std::int64_t kNarrowGuard = 16 << 10;  // a block of a thousand threads, no mask
  static constexpr std::int64_t kWideGuard = 16 << 20;    // a wrong stride, or an address made up
  void guard_with(std::int64_t bytes) { next_guard_bytes_ = bytes; }
  // At least so many, made once.
  Result<std::span<cuda::Event>> events(std::size_t count);
  // What a fault of the device means; remembers that the context is lost.
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
  bool spent() const override { return spent_; }
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
  // Makes the context, and loads the referee's own kernels into it.
  Status take_device(const std::string& cubin);
  std::optional<VerdictError> check_guards(Deadline deadline);
  // New memory between guard zones, as wide as `made`; what it holds is left open.
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
  std::uint64_t salt_ = 0, seed_ = 0, draws_ = 0;
  bool refused_ = false, spent_ = false;
  std::int64_t guard_bytes_ = kNarrowGuard, next_guard_bytes_ = kNarrowGuard;
  // Whose fingerprints are queued, in slots of their own behind those of timed rounds.
  std::vector<const void*> foreseen_;
  static constexpr std::size_t kForeseenSlot = cuda::DeviceKernels::kRounds / 2;
  std::vector<at::Tensor> guarded_;  // blocks with a guard zone at either end
};

}  // namespace tritonsmith::gym::device
