#include "cli/ranks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/log.h"

namespace tritonsmith::cli {
namespace {

using distributed::Environment;
using distributed::Place;

void take_own_gpu(const Place& device, const Environment& environment) {
  if (const auto gpu = own_gpu(device, environment("CUDA_VISIBLE_DEVICES")))
    ::setenv("CUDA_VISIBLE_DEVICES", gpu->c_str(), 1);
}

void take_own_cores(const Place& device, const Environment& environment) {
  if (environment("OMP_NUM_THREADS")) return;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(std::max(1, cores / device.local_size));
}

}  // namespace

Status with_ranks(const OnRanks& body) {
  const Environment environment = distributed::process_environment();
  TRY_ASSIGN(const Place device, distributed::place_from(environment));
  if (device.is_alone()) return body(distributed::nobody_else(), device);
  take_own_gpu(device, environment);
  take_own_cores(device, environment);
  if (device.rank > 0) set_log_level(LogLevel::quiet);
  TRY_ASSIGN(const auto ranks, distributed::join(device));
  LOG("{} ranks, {} of them on this host", device.size, device.local_size);
  const Status status = body(*ranks, device);
  ranks->end(status);
  return status;
}

}  // namespace tritonsmith::cli
