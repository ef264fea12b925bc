// A GPU on which a model computes and kernels are timed, by turns (base/lease.h): what rl, eval,
// write and quickstart do about it.
#pragma once

#include <filesystem>
#include <memory>

#include "generate/engine/engine.h"
#include "model/device.h"

namespace tritonsmith::cli {

// How many GPUs this process may use.
std::size_t visible_gpus();

// The file of the lease of the GPU that a model takes when asked for `device`: the first. Empty
// where it takes none; also, with a line that says why, where the file cannot be made.
std::filesystem::path lease_of_model(model::DeviceChoice device);

// The engine that serves the model best. With a lease it gives way to timings.
Result<std::unique_ptr<generate::TokenGenerator>> make_leased_engine(
    const model::Transformer& model, const generate::engine::EngineConfig& config,
    const std::filesystem::path& lease);

}  // namespace tritonsmith::cli
