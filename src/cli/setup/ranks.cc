#include "cli/setup/ranks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/log.h"

namespace tritonsmith::cli {
namespace {

using distributed::Environment;
using distributed::LaunchInfo;

void take_own_gpu(const LaunchInfo& launch, const Environment& environment) {
  if (const auto gpu = own_gpu(launch, environment("CUDA_VISIBLE_DEVICES")))
    ::setenv("CUDA_VISIBLE_DEVICES", gpu->c_str(), 1);
}

void take_own_cores(const LaunchInfo& launch, const Environment& environment) {
  if (environment("OMP_NUM_THREADS")) return;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(std::max(1, cores / launch.local_size));
}

}  // namespace

Status with_ranks(const OnRanks& body) {
  const Environment environment = distributed::process_environment();
  TRY_ASSIGN(const LaunchInfo launch, distributed::launch_info_from(environment));
  if (launch.is_alone()) return body(distributed::nobody_else(), launch);
  take_own_gpu(launch, environment);
  take_own_cores(launch, environment);
  if (launch.rank > 0) set_log_level(LogLevel::quiet);
  TRY_ASSIGN(const auto ranks, distributed::join(launch));
  LOG("{} ranks, {} of them on this host", launch.size, launch.local_size);
  const Status status = body(*ranks, launch);
  ranks->end(status);
  return status;
}

}  // namespace tritonsmith::cli
