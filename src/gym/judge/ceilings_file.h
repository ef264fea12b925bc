// Keeps the rates of a GPU that `doctor` measured, for later judges. The user's cache has one file
// for each name of a GPU.
#pragma once

#include <filesystem>
#include <optional>

#include "data/speed_of_light.h"

namespace tritonsmith::gym::judge {

// Returns nothing if this GPU was never measured, or the file cannot be read.
std::optional<Ceilings> known_ceilings(const std::filesystem::path& folder, const std::string& gpu);
Status keep_ceilings(const std::filesystem::path& folder, const Ceilings& ceilings);
// Returns "~/.cache/tritonsmith/ceilings", or an empty path if the user has no home directory.
std::filesystem::path ceilings_folder();

}  // namespace tritonsmith::gym::judge
