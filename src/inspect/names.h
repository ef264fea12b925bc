// Names: resolves the names of a file. `F.relu` after `import torch.nn.functional as F` is
// torch.nn.functional.relu. `E` after `E = torch.cuda.Event` is torch.cuda.Event. These are
// torch.compile, too: getattr(torch, "compile"), operator.attrgetter("compile")(torch), and
// importlib.import_module("torch").compile. Scopes are not distinguished: a name that stands for a
// module anywhere in the file does so everywhere.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspect/syntax_tree.h"

namespace tritonsmith::inspect {

struct Name {
  std::string path;       // empty if the expression is not a chain of names
  bool imported = false;  // the chain begins with an imported module
};

class Names {
 public:
  explicit Names(const SyntaxTree& tree);

  Name resolve(NodeId expression) const;
  // For each node that imports something, the imported path: "torch.nn.functional", "os.path.join".
  const std::unordered_map<NodeId, std::string>& imports() const { return imports_; }
  // Returns the name that such a node binds: "F" for `torch.nn.functional as F`.
  std::string bound_name(NodeId import) const;

 private:
  void read_import(NodeId statement);
  void read_import_from(NodeId statement);
  void read_assignment(NodeId assignment);
  bool is_getattr(NodeId function) const;
  // One step from an expression towards the name that its chain begins with.
  struct Chain {
    std::vector<std::string> attributes;  // from the outermost inwards
    NodeId at = kNoNode;
    std::string module;  // the name in import_module("..."), which begins a chain as well
    bool is_broken = false;
  };
  bool follow(Chain& chain) const;
  bool follow_call(Chain& chain) const;

  const SyntaxTree& tree_;
  std::unordered_map<std::string, std::string> stands_for_;
  std::unordered_map<NodeId, std::string> imports_;
};

// Normalises an identifier as Python does (NFKC), so that a full-width `ｅval` is eval.
std::string normal_identifier(std::string_view identifier);

// Tells whether modules of torch and triton have this module as an attribute: torch.sys is sys.
bool is_top_module(std::string_view name);

// Returns the contents of a string literal without interpolation, or an empty string otherwise.
// Literals that stand one after the other are one.
std::string literal_text(const SyntaxTree& tree, NodeId node);

// Does the same for an expression that is the same text whenever it runs: a literal, an f-string or a sum
// of such texts, or a name to which the file gives such a text once, at its top level.
std::string constant_text(const SyntaxTree& tree, NodeId node);

}  // namespace tritonsmith::inspect
