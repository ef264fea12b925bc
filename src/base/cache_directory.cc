#include "base/cache_directory.h"

#include <cstdlib>

namespace tritonsmith {

std::string cache_directory(const std::string& name) {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::string(cache) + "/tritonsmith/" + name;
  const char* home = std::getenv("HOME");
  return home != nullptr ? std::string(home) + "/.cache/tritonsmith/" + name : std::string();
}

}  // namespace tritonsmith
