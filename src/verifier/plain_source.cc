#include "verifier/plain_source.h"

#include "inspect/syntax_tree.h"

namespace tritonsmith::verifier {
namespace {

using inspect::NodeId;
using inspect::SyntaxTree;

bool is_string_alone(const SyntaxTree& tree, NodeId id) {
  if (!tree.is(id, "expression_statement")) return false;
  const auto children = tree.children(id);
  return children.size() == 1 &&
         (tree.is(children.front(), "string") || tree.is(children.front(), "concatenated_string"));
}

}  // namespace

std::string without_comments(const std::string& source) {
  const SyntaxTree tree(source);
  std::string plain = tree.source();
  for (NodeId id = 0; id < tree.size(); ++id) {
    const bool is_statement = is_string_alone(tree, id);
    if (!is_statement && !tree.is(id, "comment")) continue;
    for (std::size_t at = tree[id].begin; at < tree[id].end; ++at)
      if (plain[at] != '\n') plain[at] = ' ';
    // A function of a docstring alone still needs a statement.
    if (is_statement) plain[tree[id].begin] = '0';
  }
  // Where comments ended, lines now end with blanks.
  std::string trimmed;
  for (const char each : plain) {
    if (each == '\n')
      while (!trimmed.empty() && trimmed.back() == ' ') trimmed.pop_back();
    trimmed += each;
  }
  while (!trimmed.empty() && trimmed.back() == ' ') trimmed.pop_back();
  return trimmed;
}

}  // namespace tritonsmith::verifier
