// GpuMemory: the device memory of a referee that shares its GPU with other referees of the judge. No
// job ends otherwise because another referee keeps memory: a job that may have lacked some is run
// again while no other referee keeps any (referee/enough_memory.h). The referee's one thread uses it.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "gym/cuda/gpu_share.h"

namespace tritonsmith::gym::device {

// Returns the bytes that LibTorch's allocator has reserved on the GPU, in use or not.
std::int64_t reserved_bytes(c10::Device device);
// Gives back what LibTorch's allocator keeps for later.
void empty_cache(c10::Device device);

// What a job asks of its referee's memory. Tests have a fake.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  virtual bool has_all() const = 0;
  virtual bool was_refused() const = 0;
  virtual void take_all() = 0;
};

class GpuMemory final : public SharedMemory {
 public:
  // `total` is the size of the GPU's memory in bytes.
  GpuMemory(cuda::GpuShare& share, c10::Device device, std::int64_t total)
      : share_(share), device_(device), total_(total) {}

  // Waits while another referee has all memory. The caller does not hold the turn, here and below.
  void begin_job();
  // Says whether LibTorch refused memory since begin_job() that another referee may have kept. Also
  // counts what LibTorch itself caught, such as a smaller workspace of cuDNN.
  bool was_refused() const override;
  bool has_all() const override { return share_.has_memory_alone(); }
  // Waits until no other referee keeps memory. The caller holds no tensor any more.
  void take_all() override;
  // Frees what another referee waits for, and what is beyond a fair part.
  void end_job();
  // Frees everything. No job comes now.
  void rest();

 private:
  std::int64_t refusals() const;

  cuda::GpuShare& share_;
  c10::Device device_;
  std::int64_t total_, refusals_before_ = 0;
};

}  // namespace tritonsmith::gym::device
