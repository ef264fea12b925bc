// DeviceKernels: the referee's own kernels on one GPU (device_source.cc), and the page-locked
// memory that receives their results. All calls queue work in the default stream. Calls that return
// numbers wait for them until a deadline. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "gym/cuda/context.h"

namespace tritonsmith::gym::cuda {

template <typename T>
using Answer = tl::expected<T, CUresult>;  // CUDA_ERROR_NOT_READY: the deadline passed

struct Bytes {
  const void* at = nullptr;
  std::size_t count = 0;
};

enum class ElementType { f64, f32, f16, bf16 };

// The operands of one comparison. compare.h explains the terms.
struct ComparedValues {
  const void* candidate = nullptr;
  const void* reference = nullptr;
  const double* oracle = nullptr;  // null: no budget
  ElementType type = ElementType::f32;
  std::uint64_t count = 0;
  double tolerance = 0;
  // The unit of the tolerance's absolute part. Negative: the reference's own size, which is known
  // only with an oracle.
  double unit = 1;
  // A budget needs a reference whose own error is at most this share of tolerance * rms(oracle).
  double usable_share = 0.1;
  double final_scale = 1;     // of the budget's floor
  const void* raw = nullptr;  // the candidate's elements as it wrote them, `width` bytes each
  std::uint32_t width = 0;    // 0: unwritten elements cannot be recognised
  std::uint8_t filler = 0;
};
// The result of one pass over a reference and its oracle. Only finite values count in the sums.
struct MeasuredReference {
  double square_sum = 0;  // of the oracle, where both are finite
  double own_error = 0;   // the largest |reference - oracle|
  // Counts elements where the reference or the oracle is finite, but not both.
  std::uint64_t one_finite = 0;
  std::uint64_t finite_reference = 0;
};
// The result of one pass over candidate, reference and oracle.
struct JudgedValues {
  MeasuredReference reference;
  double expected_squares = 0;  // of the reference's finite values
  // The largest |candidate - reference| - tolerance * |reference|, and the same against the oracle.
  // Both are at least 0.
  double far = 0, beyond = 0;
  std::uint64_t alone = 0;  // elements where only one side is NaN or infinite
  double max_abs = 0, max_rel = 0;
};
// A change of a drawn tensor: x * factor + shift, where x is first set to zero for all but a share
// `kept` of the elements.
struct ElementChange {
  float factor = 1, shift = 0, kept = 1;
  std::uint64_t seed = 0;  // chooses the elements that are kept
  bool changes() const { return factor != 1 || shift != 0 || kept < 1; }
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

  // Returns one number for each block, by its bytes and the salt. Equal bytes give equal numbers.
  // Without the salt, a candidate cannot make different bytes that give the same number.
  Answer<std::vector<std::uint64_t>> fingerprints(std::span<const Bytes> blocks, std::uint64_t salt,
                                                  Deadline deadline);
  // The same for many rounds, but the calls only queue work. The caller clears some slots, adds the
  // blocks' fingerprints to one slot after another, and brings the slots back. Their sums are in
  // `rounds()` once the stream has done this work. If `fill` is given, it then replaces
  // each byte of the block.
  CUresult clear_rounds(std::size_t first, std::size_t count);
  CUresult add_fingerprint(const Bytes& block, std::uint64_t salt, std::size_t slot,
                           std::optional<std::uint8_t> fill = std::nullopt);
  CUresult bring_rounds(std::size_t first, std::size_t count);
  static constexpr std::size_t kRounds = 1024;
  std::span<const std::uint64_t> rounds() const { return {host_ + kSlots, kRounds}; }

  // Returns the state of the context without waiting: an error that ends it, or whether the work
  // before the last wait is done.
  CUresult state() const { return events_.front().query(); }

  // Waits for all queued work.
  Answer<void> finish(Deadline deadline) { return wait(deadline); }

  // Counts the bytes in the zones that differ from `value`. Each zone has `length` bytes.
  Answer<std::uint64_t> count_changed(std::span<const void* const> zones, std::size_t length,
                                      std::uint8_t value, Deadline deadline);
  Answer<CountedMismatch> compare(const ComparedValues& values, Deadline deadline);
  // Judges all elements in one pass, without the position of a wrong one. If `fused` is given, that
  // kernel computes the oracle's values from `leaves`. Otherwise they come from `values.oracle`.
  Answer<JudgedValues> judge(const ComparedValues& values, CUfunction fused,
                             std::span<const void* const> leaves, Deadline deadline);
  // Queues a kernel that fills `count` floats with random numbers that depend only on the seed.
  // They are standard normal, or uniform in [0, 1). `count` must be a multiple of four.
  CUresult queue_draw(float* values, std::uint64_t count, std::uint64_t seed, bool normal);
  // Queues a kernel that changes `count` floats in place, copies them to `copy`, and leaves their
  // fingerprint in `spread_prints()[slot]`. `count` must be a multiple of four.
  CUresult queue_spread(float* values, float* copy, std::uint64_t count,
                        const ElementChange& change, std::uint64_t salt, std::size_t slot);
  static constexpr std::size_t kSpreads = 64;
  std::span<const std::uint64_t> spread_prints() const { return {host_ + kSpreadsAt, kSpreads}; }
  // Reads only the reference, the oracle, their type and their number from `values`.
  Answer<MeasuredReference> measure(const ComparedValues& values, Deadline deadline);
  // Queues a pause of the device until release(), for at most five milliseconds.
  CUresult hold();
  void release();
  // Launches a kernel that never ends by itself, for tests of the watchdog.
  CUresult launch_endless();

 private:
  static constexpr std::size_t kSlots = 512;  // for results that a call waits for
  static constexpr std::size_t kBudgetAt = kSlots + kRounds, kBudget = 5;
  static constexpr std::size_t kJudgedAt = kBudgetAt + kBudget, kJudged = 10;
  static constexpr std::size_t kSpreadsAt = kJudgedAt + kJudged;
  static constexpr std::size_t kReleasedAt = kSpreadsAt + kSpreads, kWords = kReleasedAt + 1;
  explicit DeviceKernels(const Driver& driver) : driver_(driver) {}
  Status find_functions(const std::string& cubin);
  CUresult clear(std::size_t first, std::size_t count);
  CUresult bring(std::size_t first, std::size_t count);
  Answer<void> wait(Deadline deadline);
  CUresult launch(CUfunction function, std::uint64_t elements, std::span<void*> parameters);
  CUresult find_budget(const ComparedValues& values);
  CUresult launch_fingerprint(const Bytes& block, std::uint64_t salt, std::size_t slot,
                              std::optional<std::uint8_t> fill);

  const Driver& driver_;
  std::vector<Module> modules_;  // exactly one
  std::vector<Event> events_;    // exactly one
  CUfunction fingerprint_ = nullptr, count_changed_ = nullptr, hold_ = nullptr, endless_ = nullptr;
  CUfunction spread_ = nullptr, draw_ = nullptr;
  std::array<CUfunction, 4> budget_{}, mismatch_{}, judge_{};
  CUdeviceptr device_ = 0;  // kWords numbers
  // The tensors of the last measure(), whose budget is still on the device.
  const void *measured_reference_ = nullptr, *measured_oracle_ = nullptr;
  std::uint64_t* host_ = nullptr;  // page-locked, kWords numbers
  std::uint64_t holds_ = 0;  // pauses so far; host_[kReleasedAt] says how many of them may end
};

}  // namespace tritonsmith::gym::cuda
