// DeviceKernels: the referee's own kernels on one GPU (device_source.cc), and the little memory
// their results come back through. Calls queue work in the default stream; those that return
// numbers wait for them. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "gym/cuda/context.h"

namespace tritonsmith::gym::cuda {

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
  double usable_share = 0.1;  // of tolerance * rms(oracle): the most that the reference is off
  const void* raw = nullptr;  // the candidate's elements as it wrote them, `width` bytes each
  std::uint32_t width = 0;    // 0: unwritten elements cannot be told
  std::uint8_t filler = 0;
};
// What one pass over a reference and its oracle finds. Only what is finite counts in the sums.
struct MeasuredReference {
  double square_sum = 0;         // of the oracle, where both are finite
  double own_error = 0;          // the largest |reference - oracle|
  std::uint64_t one_finite = 0;  // elements of which either of the two is finite
  std::uint64_t finite_reference = 0;
};
// What one pass over candidate, reference and oracle finds.
struct JudgedValues {
  MeasuredReference reference;
  double expected_squares = 0;  // of the reference's finite values
  // The largest |candidate - reference| - tolerance * |reference|, and the same against the oracle;
  // at least 0.
  double far = 0, beyond = 0;
  std::uint64_t alone = 0;  // elements where NaN or infinity does not stand on both sides
  double max_abs = 0, max_rel = 0;
};
// What to do to a drawn tensor: x * factor + shift, and all but a share of the elements zero.
struct ElementChange {
  float factor = 1, shift = 0, kept = 1;
  std::uint64_t seed = 0;  // of who is kept
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

  // Numbers that equal bytes share and others do not, as long as nobody knows the salt.
  Answer<std::vector<std::uint64_t>> fingerprints(std::span<const Bytes> blocks, std::uint64_t salt,
                                                  Deadline deadline);
  // The same for many rounds, queued only: clear some slots, add the blocks' fingerprints to one
  // slot after another, bring them. Then their sums lie in `rounds()` once the stream has come so
  // far.
  CUresult clear_rounds(std::size_t first, std::size_t count);
  CUresult add_fingerprints(std::span<const Bytes> blocks, std::uint64_t salt, std::size_t slot);
  CUresult bring_rounds(std::size_t first, std::size_t count);
  static constexpr std::size_t kRounds = 1024;
  std::span<const std::uint64_t> rounds() const { return {host_ + kSlots, kRounds}; }

  // Waits for all that is queued.
  Answer<void> finish(Deadline deadline) { return wait(deadline); }

  // How many bytes of the zones, all `length` long, are not `value`.
  Answer<std::uint64_t> count_changed(std::span<const void* const> zones, std::size_t length,
                                      std::uint8_t value, Deadline deadline);
  Answer<CountedMismatch> compare(const ComparedValues& values, Deadline deadline);
  // In one pass, which does not say where a wrong element is. By `fused`, where given, which
  // computes the oracle's values from `leaves`; else from `values.oracle`.
  Answer<JudgedValues> judge(const ComparedValues& values, CUfunction fused,
                             std::span<const void* const> leaves, Deadline deadline);
  // Fills `count` floats, a multiple of four, with random numbers that follow from the seed:
  // normal, or uniform in [0, 1); queued only.
  CUresult queue_draw(float* values, std::uint64_t count, std::uint64_t seed, bool normal);
  // Changes `count` floats, a multiple of four, in place, copies them to `copy`, and leaves the
  // fingerprint of both in `spread_prints()[slot]`; queued only.
  CUresult queue_spread(float* values, float* copy, std::uint64_t count,
                        const ElementChange& change, std::uint64_t salt, std::size_t slot);
  static constexpr std::size_t kSpreads = 64;
  std::span<const std::uint64_t> spread_prints() const { return {host_ + kSpreadsAt, kSpreads}; }
  // Of `values` only the reference, the oracle, their type and their number matter.
  Answer<MeasuredReference> measure(const ComparedValues& values, Deadline deadline);
  // Queues a pause of the device, until release() is called; five milliseconds at most.
  CUresult hold();
  void release();
  // Never ends by itself; for tests of the watchdog.
  CUresult launch_endless();

 private:
  static constexpr std::size_t kSlots = 512;  // for answers that are waited for
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
  CUresult launch_fingerprint(const Bytes& block, std::uint64_t salt, std::size_t slot);

  const Driver& driver_;
  std::vector<Module> modules_;  // one
  std::vector<Event> events_;    // one
  CUfunction fingerprint_ = nullptr, count_changed_ = nullptr, hold_ = nullptr, endless_ = nullptr;
  CUfunction spread_ = nullptr, draw_ = nullptr;
  std::array<CUfunction, 4> budget_{}, mismatch_{}, judge_{};
  CUdeviceptr device_ = 0;  // kWords numbers
  // What the budget on the device was found from, by the last measure().
  const void *measured_reference_ = nullptr, *measured_oracle_ = nullptr;
  std::uint64_t* host_ = nullptr;  // page-locked, as many
  std::uint64_t holds_ = 0;        // so far; host_[kReleasedAt]: how many of them may end
};

}  // namespace tritonsmith::gym::cuda
