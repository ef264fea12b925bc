#include "gym/device/device.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cstring>

namespace tritonsmith::gym::device {
namespace {

class CpuDevice final : public Device {
 public:
  c10::Device torch_device() const override { return c10::kCPU; }
  void seed(std::uint64_t seed) override {
    auto generator = at::detail::getDefaultCPUGenerator();
    generator.set_current_seed(seed);
  }

  void begin(tensors::Filler filler, std::int64_t cap_bytes) override {
    memory_.begin(filler, cap_bytes);
  }
  void set_filler(tensors::Filler filler) override { memory_.set_filler(filler); }
  void end() override { memory_.end(); }
  bool refused() const override { return memory_.refused(); }
  void note_refusal() override {}  // ReplayMemory records it
  std::int64_t capacity(std::int64_t budget) const override { return budget; }
  at::Tensor filled(at::Tensor made) override { return made; }  // the allocator has filled it

  void set_patience(Deadline) override {}  // the evaluator has its own deadline
  std::optional<VerdictError> wait(Deadline) override { return std::nullopt; }
  bool spent() const override { return false; }

  std::vector<Snapshot> snapshots(std::span<const at::Tensor> tensors) override {
    std::vector<Snapshot> all;
    for (const at::Tensor& tensor : tensors) all.push_back({.bytes = tensor.clone()});
    return all;
  }
  bool unchanged(const at::Tensor& now, const Snapshot& before) override {
    const at::Tensor x = now.contiguous(), y = before.bytes.contiguous();
    return x.nbytes() == y.nbytes() &&
           (x.nbytes() == 0 ||
            std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0);
  }
  compare::DeviceComparison* comparison() override { return nullptr; }
  // Here no candidate's code runs beside LibTorch, and the evaluator checks every address.
  void forget(std::span<const at::Tensor>) override {}

 private:
  tensors::ReplayMemory& memory_ = tensors::ReplayMemory::instance();
};

}  // namespace

std::vector<bool> Device::each_unchanged(std::span<const at::Tensor> now,
                                         std::span<const Snapshot> before) {
  std::vector<bool> all;
  for (std::size_t k = 0; k < now.size(); ++k) all.push_back(unchanged(now[k], before[k]));
  return all;
}

Device& cpu_device() {
  static CpuDevice device;
  return device;
}

}  // namespace tritonsmith::gym::device
