#include "gym/sandbox/required_layers.h"

#include <algorithm>

namespace tritonsmith::gym::sandbox {
namespace {

// In the order of entry.
constexpr const char* kLayerNames[] = {
    "namespaces",   "sandbox_root", "session",  "bounding_set", "groups",   "uid", "capabilities",
    "parent_death", "rlimits",      "dumpable", "no_new_privs", "landlock", "fds", "seccomp"};

// Configs of the previous version say "room".
std::string current_name(std::string name) { return name == kOldRootName ? "sandbox_root" : name; }

std::vector<std::string> alternatives(const std::string& requirement) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  for (std::size_t bar = 0; bar != std::string::npos; begin = bar + 1) {
    bar = requirement.find('|', begin);
    names.push_back(current_name(requirement.substr(begin, bar - begin)));
  }
  return names;
}

const JailLayer* find_layer(const std::vector<JailLayer>& layers, const std::string& name) {
  const auto found = std::find_if(layers.begin(), layers.end(), [&](const JailLayer& layer) {
    return layer.name.substr(0, layer.name.find('=')) == name;
  });
  return found != layers.end() ? &*found : nullptr;
}

}  // namespace

std::string unknown_layer(const std::vector<std::string>& required) {
  for (const auto& requirement : required)
    for (const auto& name : alternatives(requirement)) {
      if (std::find(std::begin(kLayerNames), std::end(kLayerNames), name) != std::end(kLayerNames))
        continue;
      std::string why = "'" + name + "' is no layer of the jail; there are";
      for (const char* known : kLayerNames) why += std::string(" ") + known;
      return why + " (\"sandbox_root|landlock\": one of the two)";
    }
  return "";
}

std::string unmet_requirement(const std::vector<JailLayer>& layers,
                              const std::vector<std::string>& required) {
  for (const auto& requirement : required) {
    std::string whys;
    bool met = false;
    for (const auto& name : alternatives(requirement)) {
      const JailLayer* layer = find_layer(layers, name);
      met = met || (layer != nullptr && layer->held);
      whys += (whys.empty() ? "" : ", ") + name + ": " + (layer ? layer->why : "no such layer");
    }
    if (!met) return whys;
  }
  return "";
}

}  // namespace tritonsmith::gym::sandbox
