// SyntaxTree: the parse of a Python file by tree-sitter, as a flat list of nodes in the order of
// the text. Any bytes give a tree; nodes that are not valid Python are marked broken. No function
// recurses, however deep the text nests. One thread owns a tree. The names of types and fields live
// as long as the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::inspect {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

struct Node {
  std::string_view type;   // tree-sitter-python's type: "call", "attribute", "function_definition"
  std::string_view field;  // its part in its parent: "function", "left"; may be empty
  std::uint32_t begin = 0, end = 0;  // byte offsets
  int line = 0;                      // from 1
  NodeId parent = kNoNode;
  NodeId after = 0;     // the first node after its subtree
  bool broken = false;  // an error, or a missing token
};

class SyntaxTree {
 public:
  explicit SyntaxTree(std::string source);

  const std::string& source() const { return source_; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  bool is(NodeId id, std::string_view type) const {
    return id != kNoNode && nodes_[id].type == type;
  }
  std::string_view text(NodeId id) const;

  // Named children only: tokens such as parentheses, and comments, are left out.
  std::vector<NodeId> children(NodeId id) const;
  // Returns the child with this field, or kNoNode.
  NodeId child(NodeId id, std::string_view field) const;
  NodeId last_child(NodeId id) const;
  bool within(NodeId id, NodeId ancestor) const {
    return id >= ancestor && id < nodes_[ancestor].after;
  }
  // Returns the nearest enclosing node with one of these types, or kNoNode.
  NodeId around(NodeId id, std::initializer_list<std::string_view> types) const;

 private:
  std::string source_;
  std::vector<Node> nodes_;
  std::vector<bool> named_;
};

}  // namespace tritonsmith::inspect
