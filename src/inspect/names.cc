#include "inspect/names.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <ranges>

#include "inspect/triton_names.h"

namespace tritonsmith::inspect {
namespace {

constexpr std::size_t kLongestChain = 16;

}  // namespace

// None of these names is a module or a function of torch or triton itself.
bool is_top_module(std::string_view name) {
  constexpr auto kModules = std::to_array<std::string_view>(
      {"torch",           kTriton,     "builtins", "sys",        "os",
       "importlib",       "inspect",   "ctypes",   "subprocess", "functools",
       "threading",       "gc",        "weakref",  "pickle",     "io",
       "atexit",          "traceback", "tempfile", "shutil",     "socket",
       "multiprocessing", "linecache", "pathlib",  "platform",   "operator",
       "copyreg",         "marshal",   "_thread"});
  return std::ranges::find(kModules, name) != kModules.end();
}

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
  std::string text;
  if (tree.is(node, "concatenated_string")) {
    for (const NodeId part : tree.children(node)) text += literal_text(tree, part);
    return text;
  }
  if (!tree.is(node, "string")) return {};
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

std::string Names::bound_name(NodeId import) const {
  if (tree_.is(import, "aliased_import"))
    return normal_identifier(tree_.text(tree_.child(import, "alias")));
  const std::string name = normal_identifier(tree_.text(import));
  return name.substr(0, name.find('.'));
}

// Follows getattr(x, "name"), operator.attrgetter("a.b")(x) and importlib.import_module("a.b").
bool Names::follow_call(Chain& chain) const {
  const NodeId function = tree_.child(chain.at, "function");
  const auto arguments = tree_.children(tree_.child(chain.at, "arguments"));
  if (is_getattr(function)) {
    const std::string attribute = arguments.size() < 2 ? "" : literal_text(tree_, arguments[1]);
    chain.is_broken = attribute.empty();
    chain.attributes.push_back(attribute);
    chain.at = arguments.empty() ? kNoNode : arguments[0];
    return !chain.is_broken;
  }
  if (tree_.is(function, "call")) {
    const auto names = tree_.children(tree_.child(function, "arguments"));
    if (names.size() != 1 || arguments.size() != 1 ||
        resolve(tree_.child(function, "function")).path != "operator.attrgetter")
      return false;
    std::string path = literal_text(tree_, names[0]);
    for (std::size_t dot = path.rfind('.'); dot != path.npos; dot = path.rfind('.')) {
      chain.attributes.push_back(path.substr(dot + 1));
      path.resize(dot);
    }
    chain.attributes.push_back(path);
    chain.at = arguments[0];
    return true;
  }
  if (!arguments.empty() && resolve(function).path == "importlib.import_module") {
    chain.module = literal_text(tree_, arguments[0]);
    return false;
  }
  return false;
}

bool Names::follow(Chain& chain) const {
  if (tree_.is(chain.at, "attribute")) {
    chain.attributes.push_back(normal_identifier(tree_.text(tree_.child(chain.at, "attribute"))));
    chain.at = tree_.child(chain.at, "object");
    return true;
  }
  if (tree_.is(chain.at, "parenthesized_expression")) {
    chain.at = tree_.last_child(chain.at);
    return true;
  }
  return tree_.is(chain.at, "call") && follow_call(chain);
}

Name Names::resolve(NodeId expression) const {
  Chain chain{.at = expression};
  for (std::size_t step = 0; chain.at != kNoNode && step < kLongestChain; ++step)
    if (!follow(chain)) break;
  const bool is_import = !chain.module.empty();
  if (chain.is_broken || (!is_import && !tree_.is(chain.at, "identifier"))) return {};
  Name name{.path = is_import ? chain.module : normal_identifier(tree_.text(chain.at)),
            .imported = is_import};
  if (const auto known = stands_for_.find(name.path); !is_import && known != stands_for_.end()) {
    name.path = known->second;
    name.imported = true;
  }
  for (const std::string& attribute : std::views::reverse(chain.attributes)) {
    // A module has the modules that it imports as attributes: torch.builtins is builtins.
    if (name.imported && is_top_module(attribute))
      name.path = attribute;
    else
      name.path += "." + attribute;
  }
  return name;
}

}  // namespace tritonsmith::inspect
