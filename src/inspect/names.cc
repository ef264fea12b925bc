#include "inspect/names.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace tritonsmith::inspect {
namespace {

constexpr std::size_t kLongestChain = 16;

// Modules that torch's and triton's own modules import. None of these names is a module of
// torch or triton.
bool is_top_module(std::string_view name) {
  constexpr auto kModules = std::to_array<std::string_view>(
      {"torch", "triton", "builtins", "sys", "os", "importlib", "inspect", "ctypes", "functools",
       "subprocess", "threading", "gc", "weakref", "pickle", "io", "atexit", "signal"});
  return std::ranges::find(kModules, name) != kModules.end();
}

}  // namespace

std::string normal_identifier(std::string_view identifier) {
  if (std::ranges::all_of(identifier, [](unsigned char c) { return c < 0x80; }))
    return std::string(identifier);
  utf8proc_uint8_t* normal = nullptr;
  const auto flags =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(identifier.data()),
                   static_cast<utf8proc_ssize_t>(identifier.size()), &normal, flags);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(normal, &std::free);
  if (length < 0) return std::string(identifier);
  return {reinterpret_cast<const char*>(normal), static_cast<std::size_t>(length)};
}

std::string literal_text(const SyntaxTree& tree, NodeId node) {
  if (!tree.is(node, "string")) return {};
  std::string text;
  for (const NodeId part : tree.children(node)) {
    if (tree.is(part, "interpolation")) return {};
    if (tree.is(part, "string_content")) text += tree.text(part);
  }
  return text;
}

Names::Names(const SyntaxTree& tree) : tree_(tree) {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree.is(id, "import_statement")) read_import(id);
    if (tree.is(id, "import_from_statement")) read_import_from(id);
    if (tree.is(id, "assignment") || tree.is(id, "named_expression")) read_assignment(id);
  }
}

void Names::read_import(NodeId statement) {
  for (const NodeId item : tree_.children(statement)) {
    const bool renamed = tree_.is(item, "aliased_import");
    const std::string path =
        normal_identifier(tree_.text(renamed ? tree_.child(item, "name") : item));
    imports_.emplace(item, path);
    if (renamed) {
      stands_for_[normal_identifier(tree_.text(tree_.child(item, "alias")))] = path;
    } else {
      const std::string first = path.substr(0, path.find('.'));
      stands_for_[first] = first;
    }
  }
}

void Names::read_import_from(NodeId statement) {
  const NodeId module = tree_.child(statement, "module_name");
  const std::string base = normal_identifier(tree_.text(module));
  for (const NodeId item : tree_.children(statement)) {
    if (item == module) continue;
    if (tree_.is(item, "wildcard_import")) {
      imports_.emplace(item, base + ".*");
      continue;
    }
    const bool renamed = tree_.is(item, "aliased_import");
    const std::string name =
        normal_identifier(tree_.text(renamed ? tree_.child(item, "name") : item));
    const std::string path = is_top_module(name) ? name : base + "." + name;
    imports_.emplace(item, path);
    stands_for_[renamed ? normal_identifier(tree_.text(tree_.child(item, "alias"))) : name] = path;
  }
}

// Records `name = some.imported.thing`. It also records a builtin, so that `e = eval`
// hides nothing.
void Names::read_assignment(NodeId assignment) {
  const bool walrus = tree_.is(assignment, "named_expression");
  const NodeId left = tree_.child(assignment, walrus ? "name" : "left");
  const NodeId right = tree_.child(assignment, walrus ? "value" : "right");
  if (!tree_.is(left, "identifier") || right == kNoNode) return;
  const Name name = resolve(right);
  constexpr std::string_view kBuiltins[] = {"eval",       "exec",    "compile", "open", "globals",
                                            "__import__", "setattr", "getattr", "vars", "locals"};
  if (name.imported || std::ranges::find(kBuiltins, name.path) != std::end(kBuiltins))
    stands_for_[normal_identifier(tree_.text(left))] = name.path;
}

bool Names::is_getattr(NodeId function) const {
  if (!tree_.is(function, "identifier")) return false;
  const std::string name = normal_identifier(tree_.text(function));
  const auto known = stands_for_.find(name);
  return (known == stands_for_.end() ? name : known->second) == "getattr";
}

Name Names::resolve(NodeId expression) const {
  std::vector<std::string> attributes;  // from the outermost inwards
  NodeId at = expression;
  for (std::size_t step = 0; at != kNoNode && step < kLongestChain; ++step) {
    if (tree_.is(at, "attribute")) {
      attributes.push_back(normal_identifier(tree_.text(tree_.child(at, "attribute"))));
      at = tree_.child(at, "object");
    } else if (tree_.is(at, "parenthesized_expression")) {
      at = tree_.last_child(at);
    } else if (tree_.is(at, "call") && is_getattr(tree_.child(at, "function"))) {
      const auto arguments = tree_.children(tree_.child(at, "arguments"));
      const std::string attribute = arguments.size() < 2 ? "" : literal_text(tree_, arguments[1]);
      if (attribute.empty()) return {};
      attributes.push_back(attribute);
      at = arguments[0];
    } else {
      break;
    }
  }
  if (!tree_.is(at, "identifier")) return {};
  Name name{.path = normal_identifier(tree_.text(at))};
  if (const auto known = stands_for_.find(name.path); known != stands_for_.end()) {
    name.path = known->second;
    name.imported = true;
  }
  for (auto attribute = attributes.rbegin(); attribute != attributes.rend(); ++attribute) {
    // A module has the modules that it imports as attributes: torch.builtins is builtins.
    if (name.imported && is_top_module(*attribute))
      name.path = *attribute;
    else
      name.path += "." + *attribute;
  }
  return name;
}

}  // namespace tritonsmith::inspect
