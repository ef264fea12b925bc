#include "inspect/output.h"

#include <algorithm>
#include <array>

#include "inspect/rules.h"

namespace tritonsmith::inspect {
namespace {

// Tells whether the file neither rebinds the name print nor passes it on. An attribute of that name is another thing.
bool print_is_pythons(const Candidate& candidate) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id)
    if (tree.is(id, "identifier") && normal_identifier(candidate.text(id)) == "print" &&
        tree[id].field != "function" && tree[id].field != "attribute")
      return false;
  return true;
}

bool is_stream(std::string_view path) { return path == "sys.stdout" || path == "sys.stderr"; }

// Tells whether the name of a function, as the file writes it, is print() or one of logging's functions that
// take a stream.
bool takes_a_stream(const Candidate& candidate, NodeId function) {
  const Name name = candidate.names.resolve(function);
  if (name.path == "print") return !name.imported && print_is_pythons(candidate);
  return name.imported &&
         (name.path == "logging.basicConfig" || name.path == "logging.StreamHandler" ||
          name.path == "traceback.print_exc");
}

// Matches print("...", file=sys.stderr) and logging.StreamHandler(sys.stderr).
bool is_given_as_stream(const Candidate& candidate, NodeId stream) {
  const SyntaxTree& tree = candidate.tree;
  NodeId around = tree[stream].parent;
  if (tree.is(around, "keyword_argument")) {
    const std::string_view name = candidate.text(tree.child(around, "name"));
    if (name != "file" && name != "stream") return false;
    around = tree[around].parent;
  } else if (tree.is(around, "argument_list") &&
             candidate.names.resolve(tree.child(tree[around].parent, "function")).path == "print") {
    return false;  // print() would print the stream itself
  }
  return tree.is(around, "argument_list") &&
         takes_a_stream(candidate, tree.child(tree[around].parent, "function"));
}

// Matches traceback.print_exc() and traceback.print_exc(file=sys.stderr).
bool prints_an_exception(const Candidate& candidate, const Use& use) {
  const SyntaxTree& tree = candidate.tree;
  if (use.path != "traceback.print_exc" || !use.called) return false;
  const auto arguments = tree.children(tree.child(tree[use.node].parent, "arguments"));
  return std::ranges::all_of(arguments, [&](NodeId argument) {
    if (!tree.is(argument, "keyword_argument")) return tree.is(argument, "integer");
    const bool is_file = candidate.text(tree.child(argument, "name")) == "file";
    return tree.is(argument, "comment") || !is_file ||
           is_stream(candidate.names.resolve(tree.child(argument, "value")).path);
  });
}

}  // namespace

bool only_prints(const Candidate& candidate, const Use& use) {
  const SyntaxTree& tree = candidate.tree;
  constexpr auto kWriters = std::to_array<std::string_view>(
      {"sys.stdout.write", "sys.stderr.write", "sys.stdout.flush", "sys.stderr.flush",
       "sys.stdout.isatty", "sys.stderr.isatty"});
  if (use.assigned || !use.imported) return false;
  if (is_stream(use.path)) return is_given_as_stream(candidate, use.node);
  if (use.called && std::ranges::find(kWriters, use.path) != kWriters.end()) return true;
  const bool collects = use.path == "gc.collect" && use.called &&
                        tree.is(tree[tree[use.node].parent].parent, "expression_statement");
  return collects || prints_an_exception(candidate, use);
}

bool only_prints_or_tidies(const Candidate& candidate, std::string_view module) {
  constexpr auto kRoots =
      std::to_array<std::string_view>({"gc", "traceback", "sys.stdout", "sys.stderr"});
  const auto root =
      std::ranges::find_if(kRoots, [&](auto name) { return is_or_is_in(module, name); });
  return root != kRoots.end() && std::ranges::all_of(candidate.uses, [&](const Use& use) {
           return !use.imported || !is_or_is_in(use.path, *root) ||
                  candidate.names.imports().contains(use.node) || only_prints(candidate, use);
         });
}

}  // namespace tritonsmith::inspect
