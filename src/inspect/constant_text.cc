// Texts that are the same whenever the file runs: f"{NAMESPACE}::scale" after NAMESPACE = "mine".
#include <algorithm>
#include <array>

#include "inspect/names.h"

namespace tritonsmith::inspect {
namespace {

constexpr int kDeepest = 8;

// Tells whether this mention of a name only reads it.
bool only_reads(const SyntaxTree& tree, NodeId mention) {
  constexpr auto kReaders = std::to_array<std::string_view>(
      {"interpolation", "binary_operator", "argument_list", "expression_statement"});
  const Node& node = tree[mention];
  const std::string_view around = tree[node.parent].type;
  if (around == "keyword_argument" || around == "assignment")
    return node.field == (around == "assignment" ? "right" : "value");
  return std::ranges::find(kReaders, around) != kReaders.end();
}

// Returns what the file's only assignment to this name gives it, or kNoNode. The assignment stands at the top level.
NodeId only_value(const SyntaxTree& tree, std::string_view name) {
  NodeId value = kNoNode;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "identifier") || normal_identifier(tree.text(id)) != name) continue;
    const NodeId around = tree[id].parent;
    if (tree.is(around, "attribute") && tree[id].field == "attribute") continue;
    if (only_reads(tree, id)) continue;
    const bool is_first = value == kNoNode && tree.is(around, "assignment") &&
                          tree[id].field == "left" &&
                          tree.is(tree[around].parent, "expression_statement") &&
                          tree.is(tree[tree[around].parent].parent, "module");
    value = is_first ? tree.child(around, "right") : kNoNode;
    if (!is_first) return kNoNode;
  }
  return value;
}

// Returns false if the text is not a constant.
bool append_constant(const SyntaxTree& tree, NodeId node, int depth, std::string& text);

bool append_interpolation(const SyntaxTree& tree, NodeId node, int depth, std::string& text) {
  const auto parts = tree.children(node);
  return parts.size() == 1 && tree.text(node).find_first_of("!:=") == std::string_view::npos &&
         append_constant(tree, parts[0], depth, text);
}

bool append_constant(const SyntaxTree& tree, NodeId node, int depth, std::string& text) {
  if (node == kNoNode || depth == kDeepest) return false;
  if (tree.is(node, "string") || tree.is(node, "concatenated_string")) {
    return std::ranges::all_of(tree.children(node), [&](NodeId part) {
      if (tree.is(part, "string")) return append_constant(tree, part, depth + 1, text);
      if (tree.is(part, "interpolation")) return append_interpolation(tree, part, depth + 1, text);
      if (tree.is(part, "string_content")) text += tree.text(part);
      return true;
    });
  }
  if (tree.is(node, "identifier"))
    return append_constant(tree, only_value(tree, normal_identifier(tree.text(node))), depth + 1,
                           text);
  if (tree.is(node, "parenthesized_expression"))
    return append_constant(tree, tree.last_child(node), depth + 1, text);
  if (!tree.is(node, "binary_operator")) return false;
  const NodeId left = tree.child(node, "left"), right = tree.child(node, "right");
  const std::string sign = tree.source().substr(tree[left].end, tree[right].begin - tree[left].end);
  return sign.find_first_not_of(" +") == std::string::npos &&
         append_constant(tree, left, depth + 1, text) &&
         append_constant(tree, right, depth + 1, text);
}

}  // namespace

std::string constant_text(const SyntaxTree& tree, NodeId node) {
  std::string text;
  return append_constant(tree, node, 0, text) ? text : "";
}

}  // namespace tritonsmith::inspect
