// Where programs keep what outlives them, unless told otherwise: the user's cache.
#pragma once

#include <string>

namespace tritonsmith {

// "~/.cache/tritonsmith/NAME"; empty where the environment knows no home.
std::string cache_directory(const std::string& name);

}  // namespace tritonsmith
