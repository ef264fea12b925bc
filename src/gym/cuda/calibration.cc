#include "gym/cuda/calibration.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tritonsmith::gym::cuda {
namespace {

// compute: four chains of dependent operations a thread, which no compiler can shorten. Its time is
// inversely proportional to the clock. memory: each pass reads one half and writes the other.
constexpr std::string_view kSource = R"cuda(
extern "C" __global__ void calibrate_compute(float* out, unsigned steps) {
  float a = threadIdx.x * 1e-3f, b = a + 0.25f, c = a + 0.5f, d = a + 0.75f;
  for (unsigned step = 0; step < steps; ++step) {
    a = __fmaf_rn(a, 0.999f, 1e-3f);
    b = __fmaf_rn(b, 0.998f, 2e-3f);
    c = __fmaf_rn(c, 0.997f, 3e-3f);
    d = __fmaf_rn(d, 0.996f, 4e-3f);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

extern "C" __global__ void calibrate_memory(float4* into, const float4* from,
                                            unsigned long long quads, unsigned passes) {
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned pass = 0; pass < passes; ++pass)
    for (unsigned long long i = first; i < quads; i += stride) {
      float4 quad = from[i];
      quad.x += pass;
      into[i] = quad;
    }
}
)cuda";

constexpr std::size_t kHalfBytes = std::size_t{128} << 20;  // beyond the cache of every GPU
constexpr unsigned kThreadsEach = 256, kBlocksEach = 8;     // blocks on each multiprocessor
constexpr unsigned kSteps = 65'536, kPasses = 8;            // some 2 ms and 1 ms on an H100
constexpr int kFewestRounds = 10;

class DeviceMemory {
 public:
  static Result<DeviceMemory> allocate(const Driver& driver, std::size_t bytes) {
    DeviceMemory memory(driver);
    TRY(checked(driver, driver.memory_alloc(&memory.address_, bytes), "no memory to calibrate in"));
    return memory;
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : driver_(other.driver_), address_(std::exchange(other.address_, 0)) {}
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (address_ != 0) driver_.memory_free(address_);
  }
  CUdeviceptr address() const { return address_; }

 private:
  explicit DeviceMemory(const Driver& driver) : driver_(driver) {}
  const Driver& driver_;
  CUdeviceptr address_ = 0;
};

}  // namespace

std::string calibration_source() { return std::string(kSource); }

Result<CalibrationKernels> CalibrationKernels::make(const Driver& driver, const std::string& cubin,
                                                    std::int64_t multiprocessors) {
  TRY_ASSIGN(Module module, Module::load(driver, cubin));
  CalibrationKernels kernels(driver, std::move(module));
  TRY_ASSIGN(kernels.compute_, kernels.module_.front().function("calibrate_compute"));
  TRY_ASSIGN(kernels.memory_, kernels.module_.front().function("calibrate_memory"));
  while (kernels.events_.size() < 3) {
    TRY_ASSIGN(Event event, Event::make(driver));
    kernels.events_.push_back(std::move(event));
  }
  kernels.blocks_ = kBlocksEach * static_cast<unsigned>(std::max<std::int64_t>(multiprocessors, 1));
  return kernels;
}

Result<Calibration> CalibrationKernels::run(double seconds) {
  TRY_ASSIGN(const DeviceMemory memory, DeviceMemory::allocate(driver_, 2 * kHalfBytes));
  return fastest_round(seconds, memory.address());
}

Result<Calibration> CalibrationKernels::fastest_round(double seconds, CUdeviceptr memory) {
  constexpr double none = std::numeric_limits<double>::infinity();
  Calibration fastest{.version = kCalibrationVersion, .compute_ms = none, .memory_ms = none};
  const Deadline end = Deadline::in_seconds(seconds);
  for (int round = 0; round < kFewestRounds || !end.passed(); ++round) {
    TRY(run_round(memory));
    fastest.compute_ms = std::min(fastest.compute_ms, events_[1].milliseconds_since(events_[0]));
    fastest.memory_ms = std::min(fastest.memory_ms, events_[2].milliseconds_since(events_[1]));
  }
  if (!(fastest.compute_ms > 0) || !(fastest.memory_ms > 0))
    return fail_by_fault("the GPU's events have no times");
  return fastest;
}

Status CalibrationKernels::run_round(CUdeviceptr memory) {
  CUdeviceptr into = memory, from = memory + kHalfBytes;
  unsigned long long quads = kHalfBytes / 16;
  unsigned steps = kSteps, passes = kPasses;
  std::array<void*, 2> of_compute = {static_cast<void*>(&into), static_cast<void*>(&steps)};
  std::array<void*, 4> of_memory = {static_cast<void*>(&into), static_cast<void*>(&from),
                                    static_cast<void*>(&quads), static_cast<void*>(&passes)};
  const LaunchShape shape{.grid = {blocks_, 1, 1}, .threads = kThreadsEach};
  const auto queue = [&]() -> CUresult {
    if (const CUresult result = events_[0].record(); result != CUDA_SUCCESS) return result;
    if (const CUresult result = launch(driver_, compute_, shape, of_compute.data());
        result != CUDA_SUCCESS)
      return result;
    if (const CUresult result = events_[1].record(); result != CUDA_SUCCESS) return result;
    if (const CUresult result = launch(driver_, memory_, shape, of_memory.data());
        result != CUDA_SUCCESS)
      return result;
    return events_[2].record();
  };
  TRY(checked(driver_, queue(), "the calibration kernels do not start"));
  constexpr double patience = 5;
  return checked(driver_, wait_for(events_[2], Deadline::in_seconds(patience)),
                 "the calibration kernels do not end");
}

}  // namespace tritonsmith::gym::cuda
