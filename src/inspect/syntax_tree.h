// SyntaxTree: the parse of a Python file as a flat list of nodes in the order of the text, made by
// tree-sitter. Any bytes give a tree; where they are no Python, nodes are marked broken. Nothing
// here recurses, however deep the text nests. Owned by one thread; names of types and fields live
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
  std::string_view type;   // of tree-sitter-python: "call", "attribute", "function_definition"
  std::string_view field;  // its part in its parent: "function", "left"; empty where it has none
  std::uint32_t begin = 0, end = 0;  // bytes
  int line = 0;                      // from 1
  NodeId parent = kNoNode;
  NodeId after = 0;     // the first node behind its subtree
  bool broken = false;  // an error, or something that ought to be there and is not
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

  // Tokens such as parentheses and comments left out.
  std::vector<NodeId> children(NodeId id) const;
  // The child that plays this part; kNoNode where there is none.
  NodeId child(NodeId id, std::string_view field) const;
  NodeId last_child(NodeId id) const;
  bool within(NodeId id, NodeId ancestor) const {
    return id >= ancestor && id < nodes_[ancestor].after;
  }
  // The nearest node around it that is of one of these types; kNoNode where there is none.
  NodeId around(NodeId id, std::initializer_list<std::string_view> types) const;

 private:
  std::string source_;
  std::vector<Node> nodes_;
  std::vector<bool> named_;
};

}  // namespace tritonsmith::inspect
