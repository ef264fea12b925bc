#include "gym/cuda/device_kernels.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace tritonsmith::gym::cuda {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 2048;
constexpr std::size_t kZones = 32;  // per launch, as in struct Zones

constexpr std::array<const char*, 4> kTypes = {"f64", "f32", "f16", "bf16"};

struct Terms {  // as in device_source.cc
  const void* raw;
  std::uint64_t count;
  double tolerance;
  double unit, usable_share, final_scale;
  std::uint32_t filler, width;
};
struct Zones {
  std::array<const void*, kZones> at;
};
struct Change {
  float factor, shift, kept;
  std::uint32_t changes;
  std::uint64_t seed;
};

// Makes the array of argument addresses for the driver. The arguments must outlive the launch.
template <typename... Arguments>
std::array<void*, sizeof...(Arguments)> addresses_of(Arguments&... arguments) {
  return {static_cast<void*>(&arguments)...};
}

}  // namespace

Result<std::unique_ptr<DeviceKernels>> DeviceKernels::make(const Driver& driver,
                                                           const std::string& cubin) {
  std::unique_ptr<DeviceKernels> kernels(new DeviceKernels(driver));
  TRY(kernels->find_functions(cubin));
  constexpr std::size_t bytes = kWords * kWord;
  TRY(checked(driver, driver.memory_alloc(&kernels->device_, bytes), "no GPU memory"));
  void* host = nullptr;
  TRY(checked(driver, driver.memory_alloc_host(&host, bytes), "no page-locked memory"));
  kernels->host_ = static_cast<std::uint64_t*>(host);
  kernels->host_[kReleasedAt] = 0;
  return kernels;
}

Status DeviceKernels::find_functions(const std::string& cubin) {
  TRY_ASSIGN(Module module, Module::load(driver_, cubin));
  TRY_ASSIGN(fingerprint_, module.function("fingerprint"));
  TRY_ASSIGN(count_changed_, module.function("count_changed"));
  TRY_ASSIGN(hold_, module.function("hold"));
  TRY_ASSIGN(endless_, module.function("endless"));
  TRY_ASSIGN(draw_, module.function("draw"));
  TRY_ASSIGN(spread_, module.function("spread"));
  for (std::size_t k = 0; k < kTypes.size(); ++k) {
    TRY_ASSIGN(budget_[k], module.function(fmt::format("budget_{}", kTypes[k])));
    TRY_ASSIGN(mismatch_[k], module.function(fmt::format("mismatch_{}", kTypes[k])));
    TRY_ASSIGN(judge_[k], module.function(fmt::format("judge_{}", kTypes[k])));
  }
  modules_.push_back(std::move(module));
  TRY_ASSIGN(Event event, Event::make(driver_));
  events_.push_back(std::move(event));
  return ok();
}

DeviceKernels::~DeviceKernels() {
  if (device_ != 0) driver_.memory_free(device_);
  if (host_ != nullptr) driver_.memory_free_host(host_);
}

CUresult DeviceKernels::clear(std::size_t first, std::size_t count) {
  return driver_.memset_async(device_ + first * kWord, 0, count * kWord, nullptr);
}

CUresult DeviceKernels::bring(std::size_t first, std::size_t count) {
  return driver_.copy_to_host_async(host_ + first, device_ + first * kWord, count * kWord, nullptr);
}

Answer<void> DeviceKernels::wait(Deadline deadline) {
  CUresult result = events_.front().record();
  if (result == CUDA_SUCCESS) result = wait_for(events_.front(), deadline);
  if (result != CUDA_SUCCESS) return tl::unexpected(result);
  return {};
}

CUresult DeviceKernels::launch(CUfunction function, std::uint64_t elements,
                               std::span<void*> parameters) {
  const std::uint64_t blocks = std::clamp<std::uint64_t>(elements / kThreads, 1, kMostBlocks);
  return cuda::launch(driver_, function,
                      {.grid = {static_cast<unsigned>(blocks), 1, 1}, .threads = kThreads},
                      parameters.data());
}

CUresult DeviceKernels::launch_fingerprint(const Bytes& block, std::uint64_t salt, std::size_t slot,
                                           std::optional<std::uint8_t> fill) {
  constexpr std::uint32_t no_fill = 256;
  const void* bytes = block.at;
  std::uint64_t count = block.count;
  std::uint32_t filled = fill ? *fill : no_fill;
  CUdeviceptr sum = device_ + slot * kWord;
  auto parameters = addresses_of(bytes, count, salt, filled, sum);
  return launch(fingerprint_, count / 16, parameters);
}

Answer<std::vector<std::uint64_t>> DeviceKernels::fingerprints(std::span<const Bytes> blocks,
                                                               std::uint64_t salt,
                                                               Deadline deadline) {
  std::vector<std::uint64_t> all;
  while (all.size() < blocks.size()) {
    const std::size_t first = all.size(), count = std::min(kSlots, blocks.size() - first);
    CUresult result = clear(0, count);
    for (std::size_t k = 0; k < count && result == CUDA_SUCCESS; ++k)
      result = launch_fingerprint(blocks[first + k], salt, k, std::nullopt);
    if (result == CUDA_SUCCESS) result = bring(0, count);
    if (result != CUDA_SUCCESS) return tl::unexpected(result);
    if (const auto done = wait(deadline); !done) return tl::unexpected(done.error());
    all.insert(all.end(), host_, host_ + count);
  }
  return all;
}

CUresult DeviceKernels::clear_rounds(std::size_t first, std::size_t count) {
  return clear(kSlots + first, count);
}

CUresult DeviceKernels::add_fingerprint(const Bytes& block, std::uint64_t salt, std::size_t slot,
                                        std::optional<std::uint8_t> fill) {
  return launch_fingerprint(block, salt, kSlots + slot, fill);
}

CUresult DeviceKernels::bring_rounds(std::size_t first, std::size_t count) {
  return bring(kSlots + first, count);
}

Answer<std::uint64_t> DeviceKernels::count_changed(std::span<const void* const> zones,
                                                   std::size_t length, std::uint8_t value,
                                                   Deadline deadline) {
  CUresult result = clear(0, 1);
  const std::size_t parts = std::clamp<std::size_t>(length / (std::size_t{64} * kThreads), 1, 256);
  for (std::size_t first = 0; first < zones.size() && result == CUDA_SUCCESS; first += kZones) {
    Zones some{};
    const std::size_t count = std::min(kZones, zones.size() - first);
    std::copy_n(zones.begin() + static_cast<std::ptrdiff_t>(first), count, some.at.begin());
    std::uint64_t bytes = length;
    CUdeviceptr changed = device_;
    auto parameters = addresses_of(some, bytes, value, changed);
    result = cuda::launch(driver_, count_changed_,
                          {.grid = {static_cast<unsigned>(count), static_cast<unsigned>(parts), 1},
                           .threads = kThreads},
                          parameters.data());
  }
  if (result == CUDA_SUCCESS) result = bring(0, 1);
  if (result != CUDA_SUCCESS) return tl::unexpected(result);
  if (const auto done = wait(deadline); !done) return tl::unexpected(done.error());
  return host_[0];
}

CUresult DeviceKernels::find_budget(const ComparedValues& values) {
  const void *expected = values.reference, *exact = values.oracle;
  std::uint64_t count = values.count;
  CUdeviceptr budget = device_ + kBudgetAt * kWord;
  auto parameters = addresses_of(expected, exact, count, budget);
  measured_reference_ = measured_oracle_ = nullptr;
  if (const CUresult cleared = clear(kBudgetAt, kBudget); cleared != CUDA_SUCCESS) return cleared;
  return launch(budget_[static_cast<std::size_t>(values.type)], count, parameters);
}

Answer<MeasuredReference> DeviceKernels::measure(const ComparedValues& values, Deadline deadline) {
  CUresult result = find_budget(values);
  if (result == CUDA_SUCCESS) result = bring(kBudgetAt, kBudget);
  if (result != CUDA_SUCCESS) return tl::unexpected(result);
  if (const auto done = wait(deadline); !done) return tl::unexpected(done.error());
  measured_reference_ = values.reference;
  measured_oracle_ = values.oracle;
  const std::uint64_t* found = host_ + kBudgetAt;
  return MeasuredReference{.square_sum = std::bit_cast<double>(found[0]),
                           .own_error = std::bit_cast<double>(found[1]),
                           .one_finite = found[2],
                           .finite_reference = found[4]};
}

// The first slot starts with all bits set, because a kernel takes a minimum there. A budget that
// measure() has just found for the same tensors is used again, but only once: other tensors may
// later have the same addresses.
Answer<CountedMismatch> DeviceKernels::compare(const ComparedValues& values, Deadline deadline) {
  constexpr std::size_t slots = 6;
  const auto type = static_cast<std::size_t>(values.type);
  const void *got = values.candidate, *expected = values.reference, *exact = values.oracle;
  std::uint64_t count = values.count;
  CUdeviceptr budget = device_ + kBudgetAt * kWord, mismatch = device_;
  const bool is_measured =
      exact != nullptr && expected == measured_reference_ && exact == measured_oracle_;
  measured_reference_ = measured_oracle_ = nullptr;
  CUresult result = clear(0, slots);
  if (result == CUDA_SUCCESS) result = driver_.memset_async(mismatch, 0xff, kWord, nullptr);
  if (result == CUDA_SUCCESS && exact != nullptr && !is_measured) result = find_budget(values);
  Terms terms{.raw = values.raw,
              .count = count,
              .tolerance = values.tolerance,
              .unit = values.unit,
              .usable_share = values.usable_share,
              .final_scale = values.final_scale,
              .filler = values.filler,
              .width = values.width};
  auto parameters = addresses_of(got, expected, exact, budget, terms, mismatch);
  if (result == CUDA_SUCCESS) result = launch(mismatch_[type], count, parameters);
  if (result == CUDA_SUCCESS) result = bring(0, slots);
  if (result != CUDA_SUCCESS) return tl::unexpected(result);
  if (const auto done = wait(deadline); !done) return tl::unexpected(done.error());
  const std::uint64_t* found = host_;
  return CountedMismatch{.first = found[0],
                         .count = found[1],
                         .unwritten = found[2],
                         .far = found[3],
                         .max_abs = std::bit_cast<double>(found[4]),
                         .max_rel = std::bit_cast<double>(found[5])};
}

Answer<JudgedValues> DeviceKernels::judge(const ComparedValues& values, CUfunction fused,
                                          std::span<const void* const> leaves, Deadline deadline) {
  const void *got = values.candidate, *expected = values.reference, *exact = values.oracle;
  std::uint64_t count = values.count;
  double tolerance = values.tolerance;
  CUdeviceptr judged = device_ + kJudgedAt * kWord;
  std::vector<const void*> sources(leaves.begin(), leaves.end());
  if (fused == nullptr) sources = {exact};
  std::vector<void*> parameters = {static_cast<void*>(&got), static_cast<void*>(&expected)};
  for (const void*& source : sources) parameters.push_back(static_cast<void*>(&source));
  for (void* const last : addresses_of(count, tolerance, judged)) parameters.push_back(last);
  CUresult result = clear(kJudgedAt, kJudged);
  if (result == CUDA_SUCCESS)
    result = launch(fused != nullptr ? fused : judge_[static_cast<std::size_t>(values.type)],
                    count / 4, parameters);
  if (result == CUDA_SUCCESS) result = bring(kJudgedAt, kJudged);
  if (result != CUDA_SUCCESS) return tl::unexpected(result);
  if (const auto done = wait(deadline); !done) return tl::unexpected(done.error());
  const std::uint64_t* found = host_ + kJudgedAt;
  return JudgedValues{.reference = {.square_sum = std::bit_cast<double>(found[0]),
                                    .own_error = std::bit_cast<double>(found[1]),
                                    .one_finite = found[2],
                                    .finite_reference = found[4]},
                      .expected_squares = std::bit_cast<double>(found[3]),
                      .far = std::bit_cast<double>(found[5]),
                      .beyond = std::bit_cast<double>(found[6]),
                      .alone = found[7],
                      .max_abs = std::bit_cast<double>(found[8]),
                      .max_rel = std::bit_cast<double>(found[9])};
}

CUresult DeviceKernels::queue_draw(float* values, std::uint64_t count, std::uint64_t seed,
                                   bool normal) {
  std::uint64_t quads = count / 4;
  std::uint32_t is_normal = normal ? 1 : 0;
  auto parameters = addresses_of(values, quads, seed, is_normal);
  return launch(draw_, quads, parameters);
}

CUresult DeviceKernels::queue_spread(float* values, float* copy, std::uint64_t count,
                                     const ElementChange& change, std::uint64_t salt,
                                     std::size_t slot) {
  std::uint64_t quads = count / 4;
  Change how{.factor = change.factor,
             .shift = change.shift,
             .kept = change.kept,
             .changes = change.changes() ? 1U : 0U,
             .seed = change.seed};
  const std::size_t at = kSpreadsAt + slot;
  CUdeviceptr sum = device_ + at * kWord;
  auto parameters = addresses_of(values, copy, quads, how, salt, sum);
  CUresult result = clear(at, 1);
  if (result == CUDA_SUCCESS) result = launch(spread_, quads, parameters);
  return result == CUDA_SUCCESS ? bring(at, 1) : result;
}

CUresult DeviceKernels::hold() {
  std::uint64_t most_nanoseconds = 5'000'000, ticket = ++holds_;
  auto released = reinterpret_cast<CUdeviceptr>(host_ + kReleasedAt);
  auto parameters = addresses_of(released, ticket, most_nanoseconds);
  return cuda::launch(driver_, hold_, {.grid = {1, 1, 1}, .threads = 1}, parameters.data());
}

void DeviceKernels::release() {
  std::atomic_ref(host_[kReleasedAt]).store(holds_, std::memory_order_release);
}

CUresult DeviceKernels::launch_endless() {
  CUdeviceptr flag = device_;
  if (const CUresult cleared = clear(0, 1); cleared != CUDA_SUCCESS) return cleared;
  auto parameters = addresses_of(flag);
  return launch(endless_, 1, parameters);
}

}  // namespace tritonsmith::gym::cuda
