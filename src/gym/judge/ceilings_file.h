// The file in which `doctor` keeps the measured rates of a GPU for later judges: one for each name of
// a GPU, in the user's cache.
#pragma once

#include <filesystem>
#include <optional>

#include "data/speed_of_light.h"

namespace tritonsmith::gym::judge {

// Nothing where this GPU was never measured, or the file cannot be read.
std::optional<Ceilings> known_ceilings(const std::filesystem::path& folder, const std::string& gpu);
Status keep_ceilings(const std::filesystem::path& folder, const Ceilings& ceilings);
// "~/.cache/tritonsmith/ceilings"; empty where there is no home.
std::filesystem::path ceilings_folder();

}  // namespace tritonsmith::gym::judge
