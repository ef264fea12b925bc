// DeviceKernels: the referee's own kernels on one GPU (device_source.cc), and the little memory
// their results come back through. Calls queue work in the default stream; those that return
// numbers wait for them. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "gym/gpu/device.h"

namespace tritonsmith::gym::gpu {

template <typename T>
using Answer = tl::expected<T, CUresult>;  // CUDA_ERROR_NOT_READY: not by the deadline

struct Bytes {
  const void* at = nullptr;
  std::size_t count = 0;
};

enum class ElementType { f64, f32, f16, bf16 };

// What compare.h calls by the same names.
struct ComparedValues {
  const void* candidate = nullptr;
  const void* reference = nullptr;
  const double* oracle = nullptr;  // none: no budget
  ElementType type = ElementType::f32;
  std::uint64_t count = 0;
  double tolerance = 0;
  double unit =
      1;  // of its absolute part; negative: the reference's own size, known with an oracle
  const void* raw = nullptr;  // the candidate's elements as it wrote them, `width` bytes each
  std::uint32_t width = 0;    // 0: unwritten elements cannot be told
  std::uint8_t filler = 0;
};
// What one pass over a reference and its oracle finds. Only what is finite counts in the sums.
struct MeasuredReference {
  double square_sum = 0;  // of the oracle, where both are finite
  double own_error = 0;   // the largest |reference - oracle|
  std::uint64_t not_finite = 0, finite_reference = 0;
};
struct CountedMismatch {
  std::uint64_t first = ~std::uint64_t{0}, count = 0, unwritten = 0, far = 0;
  double max_abs = 0, max_rel = 0;
};

class DeviceKernels {
 public:
  static Result<std::unique_ptr<DeviceKernels>> make(const Driver& driver,
                                                     const std::string& cubin);
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;
  ~DeviceKernels();

  // Numbers that equal bytes share and others do not, as long as nobody knows the salt.
  Answer<std::vector<std::uint64_t>> fingerprints(std::span<const Bytes> blocks, std::uint64_t salt,
                                                  Deadline deadline);
  // The same for one round of many: queued only; the sum of the blocks' fingerprints lies in
  // `rounds()[slot]` once the stream has come so far.
  CUresult queue_fingerprint(std::span<const Bytes> blocks, std::uint64_t salt, std::size_t slot);
  static constexpr std::size_t kRounds = 1024;
  std::span<const std::uint64_t> rounds() const { return {host_ + kSlots, kRounds}; }

  // How many bytes of the zones, all `length` long, are not `value`.
  Answer<std::uint64_t> count_changed(std::span<const void* const> zones, std::size_t length,
                                      std::uint8_t value, Deadline deadline);
  Answer<CountedMismatch> compare(const ComparedValues& values, Deadline deadline);
  // Of `values` only the reference, the oracle, their type and their number matter.
  Answer<MeasuredReference> measure(const ComparedValues& values, Deadline deadline);
  // Queues a pause of the device.
  CUresult hold(double microseconds);
  // Never ends by itself; for tests of the watchdog.
  CUresult launch_endless();

 private:
  static constexpr std::size_t kSlots = 512;  // for answers that are waited for
  static constexpr std::size_t kBudgetAt = kSlots + kRounds, kBudget = 5;
  explicit DeviceKernels(const Driver& driver) : driver_(driver) {}
  Status find_functions(const std::string& cubin);
  CUresult clear(std::size_t first, std::size_t count);
  CUresult bring(std::size_t first, std::size_t count);
  Answer<void> wait(Deadline deadline);
  CUresult launch(CUfunction function, std::uint64_t elements, std::span<void*> parameters);
  CUresult find_budget(const ComparedValues& values);
  CUresult launch_fingerprint(const Bytes& block, std::uint64_t salt, std::size_t slot);

  const Driver& driver_;
  std::vector<Module> modules_;  // one
  std::vector<Event> events_;    // one
  CUfunction fingerprint_ = nullptr, count_changed_ = nullptr, hold_ = nullptr, endless_ = nullptr;
  std::array<CUfunction, 4> budget_{}, mismatch_{};
  CUdeviceptr device_ = 0;  // kSlots + kRounds + kBudget numbers
  // What the budget on the device was found from, by the last measure().
  const void *measured_reference_ = nullptr, *measured_oracle_ = nullptr;
  std::uint64_t* host_ = nullptr;  // page-locked, as many
};

}  // namespace tritonsmith::gym::gpu
