#include "inspect/imports.h"

#include <algorithm>
#include <array>
#include <string>

#include "inspect/rules.h"
#include "inspect/triton_names.h"

namespace tritonsmith::inspect {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Tells whether the file may read a variable without writing its name.
bool reads_names_in_a_roundabout_way(const Candidate& candidate) {
  constexpr auto kWays = std::to_array<std::string_view>(
      {"globals", "locals", "vars", "eval", "exec", "__dict__", "__globals__", "modules"});
  const SyntaxTree& tree = candidate.tree;
  for (const Use& use : candidate.uses) {
    const std::string_view last = last_part(use.path);
    // Inductor's code gives its variables to async_compile.wait, which only looks for kernels.
    const NodeId around = tree.around(use.node, {"argument_list"});
    const bool waits = last == "globals" && around != kNoNode &&
                       candidate.text(tree[around].parent) == "async_compile.wait(globals())";
    if (!use.imported && !waits && std::ranges::find(kWays, last) != kWays.end()) return true;
  }
  return false;
}

// Tells whether a `try` has a clause for a missing module.
bool expects_missing_module(const Candidate& candidate, NodeId try_statement) {
  const SyntaxTree& tree = candidate.tree;
  for (const NodeId part : tree.children(try_statement)) {
    if (!tree.is(part, "except_clause")) continue;
    const auto inner = tree.children(part);
    const std::string_view caught = inner.size() < 2 ? "" : candidate.text(inner.front());
    if (caught.empty() || contains(caught, "ImportError") || contains(caught, "Exception") ||
        contains(caught, "ModuleNotFoundError"))
      return true;
  }
  return false;
}

}  // namespace

bool is_idle_import(const Candidate& candidate, const Use& use) {
  const SyntaxTree& tree = candidate.tree;
  if (!candidate.names.imports().contains(use.node) || tree.is(use.node, "wildcard_import"))
    return false;
  const bool dotted = use.path.find('.') != std::string::npos &&
                      tree.is(tree[use.node].parent, "import_statement") &&
                      !tree.is(use.node, "aliased_import");
  const std::string name = candidate.names.bound_name(use.node);
  for (const Use& other : candidate.uses) {
    if (candidate.names.imports().contains(other.node)) continue;
    if (is_or_is_in(other.path, use.path)) return false;
  }
  for (NodeId id = 0; !dotted && id < tree.size(); ++id) {
    const bool is_mention = tree.is(id, "identifier") && tree[id].field != "attribute" &&
                            normal_identifier(candidate.text(id)) == name;
    if (is_mention && tree.around(id, {"import_statement", "import_from_statement"}) == kNoNode)
      return false;
  }
  return !reads_names_in_a_roundabout_way(candidate);
}

bool is_optional_import(const Candidate& candidate, NodeId import) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId at = tree.around(import, {"try_statement", "if_statement"}); at != kNoNode;
       at = tree.around(at, {"try_statement", "if_statement"})) {
    const bool is_try = tree.is(at, "try_statement");
    const NodeId body = tree.child(at, is_try ? "body" : "consequence");
    if (body != kNoNode && tree.within(import, body) &&
        (is_try ? expects_missing_module(candidate, at)
                : contains(candidate.text(tree.child(at, "condition")), "find_spec")))
      return true;
  }
  return false;
}

bool is_optional_module(const Candidate& candidate, std::string_view path) {
  const std::string_view root = path.substr(0, path.find('.'));
  return std::ranges::all_of(candidate.names.imports(), [&](const auto& import) {
    return !is_or_is_in(import.second, root) || is_optional_import(candidate, import.first);
  });
}

bool is_listed_module(std::string_view path) {
  constexpr auto kListed = std::to_array<std::string_view>(
      {"torch",       kTriton,       "numpy",       "einops",    "packaging",
       "typing",      "math",        "cmath",       "functools", "itertools",
       "operator",    "collections", "dataclasses", "enum",      "abc",
       "contextlib",  "warnings",    "logging",     "os",        "sys",
       "re",          "random",      "time",        "copy",      "types",
       "string",      "numbers",     "fractions",   "decimal",   "statistics",
       "bisect",      "heapq",       "hashlib",     "struct",    "array",
       "inspect",     "importlib",   "textwrap",    "pprint",    "json",
       "__future__",  "platform",    "argparse",    "datetime",  "typing_extensions",
       "contextvars", "zlib",        "base64",      "binascii",  "graphlib",
       "keyword",     "locale",      "unicodedata", "calendar",  "codecs",
       "csv",         "difflib",     "colorsys"});
  return std::ranges::find(kListed, path.substr(0, path.find('.'))) != kListed.end();
}

}  // namespace tritonsmith::inspect
