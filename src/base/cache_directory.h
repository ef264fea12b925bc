// Finds the user's cache directory. Programs keep files there that outlive a run, unless an option
// names another directory.
#pragma once

#include <string>

namespace tritonsmith {

// Returns "~/.cache/tritonsmith/NAME". Returns an empty string if the environment names no home
// directory.
std::string cache_directory(const std::string& name);

}  // namespace tritonsmith
