// Shares a GPU between a model that computes and kernels that are timed, in turn (base/lease.h).
// rl, eval, write and quickstart use these functions.
#pragma once

#include <filesystem>
#include <memory>

#include "generate/engine/engine.h"
#include "model/memory/device.h"

namespace tritonsmith::cli {

// Returns the number of GPUs that this process may use.
std::size_t visible_gpus();

// Returns the lease file of the GPU that a model takes for `device`, which is the first GPU.
// Returns an empty path if it takes none. If the file cannot be made, it logs the reason and also
// returns an empty path.
std::filesystem::path lease_of_model(model::DeviceChoice device);

// The engine that serves the model best. With a lease it gives way to timings.
Result<std::unique_ptr<generate::TokenEngine>> make_leased_engine(
    const model::Transformer& model, const generate::engine::EngineConfig& config,
    const std::filesystem::path& lease);

}  // namespace tritonsmith::cli
