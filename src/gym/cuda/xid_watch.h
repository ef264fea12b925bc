// XidWatch: the errors that NVIDIA's driver reports about GPUs, their Xids, from its management
// library (NVML). The kernel log has the same errors, but only root may read it everywhere. A thread
// of its own waits for reports.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "gym/cuda/nvml.h"

namespace tritonsmith::gym::cuda {

// Says whether a program can cause the Xid, so that it tells nothing about the GPU. Candidates cause
// these whenever they like.
bool is_of_a_program(unsigned long long xid);

struct WatchedGpu {
  std::string uuid, bus_id;  // as GpuFacts has them
};

// A reason why a GPU must judge no more.
struct GpuFault {
  std::string uuid;
  std::string reason;  // one line
};

class XidWatch {
 public:
  // Fails if the driver reports nothing about one of the GPUs.
  static Result<std::unique_ptr<XidWatch>> start(Nvml nvml, std::span<const WatchedGpu> gpus);
  XidWatch(const XidWatch&) = delete;
  XidWatch& operator=(const XidWatch&) = delete;
  ~XidWatch();

  // Returns what was reported since the last call. Any thread may call it.
  std::vector<GpuFault> take();

 private:
  struct Watched {
    WatchedGpu gpu;
    Nvml::Device device = nullptr;
    std::string name;  // NVML's own UUID
  };
  explicit XidWatch(Nvml nvml) : nvml_(nvml) {}
  Status watch(const WatchedGpu& gpu);
  std::string name_of(Nvml::Device device) const;
  void run(const std::stop_token& stop);
  void hear(const Nvml::Event& event);
  // Reports the GPUs that the driver cannot reach any more.
  void find_lost();
  void report(const Watched& watched, std::string reason);

  Nvml nvml_;
  Nvml::EventSet events_ = nullptr;
  std::vector<Watched> watched_;
  std::mutex mutex_;  // guards faults_
  std::vector<GpuFault> faults_;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::cuda
