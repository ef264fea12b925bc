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

void take_own_gpu(const Place& place, const Environment& environment) {
  if (const auto gpu = own_gpu(place, environment("CUDA_VISIBLE_DEVICES")))
    ::setenv("CUDA_VISIBLE_DEVICES", gpu->c_str(), 1);
}

void take_own_cores(const Place& place, const Environment& environment) {
  if (environment("OMP_NUM_THREADS")) return;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(std::max(1, cores / place.local_size));
}

}  // namespace

Status with_ranks(const OnRanks& body) {
  const Environment environment = distributed::process_environment();
  TRY_ASSIGN(const Place place, distributed::place_from(environment));
  if (place.is_alone()) return body(distributed::nobody_else(), place);
  take_own_gpu(place, environment);
  take_own_cores(place, environment);
  if (place.rank > 0) set_log_level(LogLevel::quiet);
  TRY_ASSIGN(const auto ranks, distributed::join(place));
  LOG("{} ranks, {} of them on this host", place.size, place.local_size);
  const Status status = body(*ranks, place);
  ranks->end(status);
  return status;
}

}  // namespace tritonsmith::cli
