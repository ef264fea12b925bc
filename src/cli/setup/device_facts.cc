#include "cli/setup/device_facts.h"

#include "gym/cuda/driver.h"
#include "gym/judge/replay_gpus.h"

namespace tritonsmith::cli {
namespace {

Json facts_of_gpu(const gym::cuda::GpuFacts& gpu) {
  Json properties = Json::object();
  for (const auto& [name, value] : gpu.properties) properties[name] = value;
  return {{"name", gpu.name},
          {"target", gpu.target},
          {"driver", gpu.driver},
          {"multiprocessors", gpu.multiprocessors},
          {"cache_bytes", gpu.cache_bytes},
          {"bytes_per_second", gpu.bytes_per_second},
          {"flops_per_second", gpu.flops_per_second},
          {"properties", std::move(properties)}};
}

}  // namespace

Result<Json> device_facts(const gym::judge::LocalJudgeConfig& config) {
  const std::vector<gym::cuda::GpuFacts> here = gym::cuda::list_gpus();
  TRY_ASSIGN(const auto chosen, gym::judge::choose_gpus(config, here));
  Json gpus = Json::array();
  for (const gym::judge::ReplayGpu& gpu : chosen)
    gpus.push_back(facts_of_gpu(here.at(static_cast<std::size_t>(gpu.ordinal))));
  return Json{{"backend", chosen.empty() ? "evaluate" : "replay"},
              {"target", gym::judge::target_of(config, chosen)},
              {"gpus", std::move(gpus)}};
}

}  // namespace tritonsmith::cli
