#include "inspect/layers.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace tritonsmith::inspect {
namespace {

// Returns torch.nn.Linear for `nn.Linear(4, 4)`.
std::string called_path(const Candidate& candidate, NodeId call) {
  return candidate.names.resolve(candidate.tree.child(call, "function")).path;
}

// Layers that compute something. Layers that only hold others or reshape are not among them.
bool is_computing_layer(std::string_view path) {
  constexpr auto kIdle = std::to_array<std::string_view>(
      {"Parameter", "ParameterList", "ParameterDict", "Identity", "Flatten", "Unflatten", "Module",
       "ModuleList", "ModuleDict", "Sequential", "Buffer"});
  if (!path.starts_with("torch.nn.") || path.starts_with("torch.nn.functional.")) return false;
  return std::ranges::find(kIdle, path.substr(path.rfind('.') + 1)) == kIdle.end();
}

// Modules that only pass on the layers that they are given. A layer within any other call belongs
// to that call, as in TritonLinear(nn.Linear(4, 4)).
bool is_container(std::string_view path) {
  constexpr auto kContainers = std::to_array<std::string_view>(
      {"torch.nn.Sequential", "torch.nn.modules.container.Sequential", "collections.OrderedDict",
       "dict", "list", "tuple", "reversed"});
  return std::ranges::find(kContainers, path) != kContainers.end();
}

// Returns the first computing layer that a call of the module runs: the module itself, or a layer
// that it contains. Returns an empty string if there is none. A Sequential of the candidate's own
// modules computes nothing itself.
std::string computing_layer(const Candidate& candidate, NodeId made) {
  const SyntaxTree& tree = candidate.tree;
  std::set<NodeId> containers;  // containers for which all calls from `made` inwards are containers
  for (NodeId id = made; id < tree[made].after; ++id) {
    if (!tree.is(id, "call") || (id != made && !containers.contains(tree.around(id, {"call"}))))
      continue;
    std::string path = called_path(candidate, id);
    if (is_computing_layer(path)) return path;
    if (is_container(path)) containers.insert(id);
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> layers_of(const Candidate& candidate, NodeId class_definition) {
  const SyntaxTree& tree = candidate.tree;
  std::map<std::string, std::string> layers;
  if (class_definition == kNoNode) return layers;
  for (NodeId id = class_definition; id < tree[class_definition].after; ++id) {
    if (!tree.is(id, "assignment") || tree.around(id, {"class_definition"}) != class_definition)
      continue;
    const NodeId left = tree.child(id, "left"), right = tree.child(id, "right");
    if (right == kNoNode || !tree.is(left, "attribute") ||
        candidate.text(tree.child(left, "object")) != "self")
      continue;
    const std::string layer = tree.is(right, "call") ? computing_layer(candidate, right) : "";
    const auto [known, is_new] =
        layers.emplace(candidate.text(tree.child(left, "attribute")), layer);
    if (!is_new && layer.empty()) known->second.clear();
  }
  std::erase_if(layers, [](const auto& entry) { return entry.second.empty(); });
  return layers;
}

}  // namespace tritonsmith::inspect
