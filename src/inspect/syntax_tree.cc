#include "inspect/syntax_tree.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <memory>

#include "base/check.h"

extern "C" const TSLanguage* tree_sitter_python();

namespace tritonsmith::inspect {
namespace {

using Parser = std::unique_ptr<TSParser, decltype(&ts_parser_delete)>;
using Tree = std::unique_ptr<TSTree, decltype(&ts_tree_delete)>;

struct Cursor {
  explicit Cursor(TSNode root) : at(ts_tree_cursor_new(root)) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() { ts_tree_cursor_delete(&at); }
  TSTreeCursor at;
};

Node describe(const Cursor& cursor, TSNode node, NodeId parent) {
  const char* field = ts_tree_cursor_current_field_name(&cursor.at);
  return {.type = ts_node_type(node),
          .field = field == nullptr ? std::string_view() : field,
          .begin = ts_node_start_byte(node),
          .end = ts_node_end_byte(node),
          .line = static_cast<int>(ts_node_start_point(node).row) + 1,
          .parent = parent,
          .broken = ts_node_is_missing(node) || ts_node_symbol(node) == static_cast<TSSymbol>(-1)};
}

}  // namespace

SyntaxTree::SyntaxTree(std::string source) : source_(std::move(source)) {
  const Parser parser(ts_parser_new(), &ts_parser_delete);
  CHECK(ts_parser_set_language(parser.get(), tree_sitter_python()),
        "the grammar is of another version");
  const Tree tree(ts_parser_parse_string(parser.get(), nullptr, source_.data(),
                                         static_cast<std::uint32_t>(source_.size())),
                  &ts_tree_delete);
  CHECK(tree != nullptr, "tree-sitter gave no tree");
  Cursor cursor(ts_tree_root_node(tree.get()));
  for (NodeId parent = kNoNode;;) {
    const TSNode node = ts_tree_cursor_current_node(&cursor.at);
    const auto id = static_cast<NodeId>(nodes_.size());
    nodes_.push_back(describe(cursor, node, parent));
    named_.push_back(ts_node_is_named(node));
    if (ts_tree_cursor_goto_first_child(&cursor.at)) {
      parent = id;
      continue;
    }
    nodes_[id].after = id + 1;
    while (!ts_tree_cursor_goto_next_sibling(&cursor.at)) {
      if (parent == kNoNode) return;
      ts_tree_cursor_goto_parent(&cursor.at);
      nodes_[parent].after = static_cast<NodeId>(nodes_.size());
      parent = nodes_[parent].parent;
    }
  }
}

std::string_view SyntaxTree::text(NodeId id) const {
  if (id == kNoNode) return {};
  return std::string_view(source_).substr(nodes_[id].begin, nodes_[id].end - nodes_[id].begin);
}

std::vector<NodeId> SyntaxTree::children(NodeId id) const {
  std::vector<NodeId> list;
  if (id == kNoNode) return list;
  for (NodeId child = id + 1; child < nodes_[id].after; child = nodes_[child].after)
    if (named_[child] && nodes_[child].type != "comment") list.push_back(child);
  return list;
}

NodeId SyntaxTree::child(NodeId id, std::string_view field) const {
  if (id == kNoNode) return kNoNode;
  for (NodeId child = id + 1; child < nodes_[id].after; child = nodes_[child].after)
    if (nodes_[child].field == field) return child;
  return kNoNode;
}

NodeId SyntaxTree::last_child(NodeId id) const {
  const std::vector<NodeId> all = children(id);
  return all.empty() ? kNoNode : all.back();
}

NodeId SyntaxTree::around(NodeId id, std::initializer_list<std::string_view> types) const {
  for (NodeId at = nodes_[id].parent; at != kNoNode; at = nodes_[at].parent)
    if (std::ranges::find(types, nodes_[at].type) != types.end()) return at;
  return kNoNode;
}

}  // namespace tritonsmith::inspect
