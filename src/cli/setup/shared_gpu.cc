#include "cli/setup/shared_gpu.h"

#include "base/lease.h"
#include "base/log.h"
#include "generate/engine/leased_engine.h"
#include "gym/cuda/lease_path.h"

namespace tritonsmith::cli {

std::size_t visible_gpus() { return gym::cuda::list_gpus().size(); }

std::filesystem::path lease_of_model(model::DeviceChoice device) {
  if (device == model::DeviceChoice::cpu) return {};
  const auto gpus = gym::cuda::list_gpus();
  if (gpus.empty()) return {};
  std::filesystem::path file = gym::cuda::lease_path(gpus.front());
  const auto lease = Lease::open(file);
  if (lease) return file;
  LOG("computing beside timings without a lease of the GPU: {}", lease.error().message);
  return {};
}

Result<std::unique_ptr<generate::TokenEngine>> make_leased_engine(
    const model::Transformer& model, const generate::engine::EngineConfig& config,
    const std::filesystem::path& lease) {
  TRY_ASSIGN(auto engine, generate::engine::make_engine(model, config));
  if (lease.empty()) return engine;
  TRY_ASSIGN(Lease own, Lease::open(lease));
  return std::make_unique<generate::engine::LeasedEngine>(std::move(engine), std::move(own));
}

}  // namespace tritonsmith::cli
