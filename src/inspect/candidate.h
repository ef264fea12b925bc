// Candidate: the facts about a file that the rules need, found once. They are its kernels, their
// launches, its entry point and every use of an imported name. The source is hostile text. If a
// fact is undecidable from the text, the candidate gets the benefit of the doubt: the launch plan
// decides later.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/names.h"
#include "inspect/syntax_tree.h"

namespace tritonsmith::inspect {

// A mention of a name: an import, or the outermost expression that is a chain of names.
struct Use {
  NodeId node = kNoNode;
  std::string path;
  bool imported = false;
  bool called = false;  // it is the callee of a call
  // It is the target of an assignment or `del`, or an item of it is: x.a = 1, x.a["k"] = 1.
  bool assigned = false;
};

struct Function {
  NodeId node = kNoNode;  // a function_definition
  std::string name;
  bool is_kernel = false;  // has @triton.jit, with or without an autotuner around it
};

class Candidate {
 public:
  explicit Candidate(std::string source);

  SyntaxTree tree;
  Names names;
  std::vector<Use> uses;
  std::vector<Function> functions;
  std::vector<NodeId> launches;      // calls such as kernel[grid](...) and kernel.run(...)
  std::vector<NodeId> entry_points;  // definitions of ModelNew
  std::string entry_class;           // ModelNew, or the class for which it is another name
  NodeId forward = kNoNode;          // ModelNew.forward; if there are several, the last one
  bool has_kernel = false;           // the file mentions triton.jit, or has a kernel in a string
  // Calls async_compile.triton("name", "text"), which make a kernel of a text that is written out.
  std::vector<NodeId> kernel_strings;

  // False within `if __name__ == "__main__":`, which a judge never runs.
  bool is_live(NodeId node) const;
  // Tells whether the top level of the file defines a class or function of this name.
  bool defines(std::string_view name) const;
  // Tells whether the node mentions a kernel, or a name that stands for one.
  bool mentions_kernel(NodeId node) const;
  // Tells whether code in the node launches a kernel, or calls a function of the file that does.
  bool launches_within(NodeId node) const;
  // Tells whether the file does nothing with a builtin but call it: it neither rebinds the name nor
  // passes it on.
  bool only_calls(std::string_view builtin) const;
  // Tells whether an identifier is a parameter or a local variable of a function around it.
  bool is_local(NodeId identifier) const;
  std::string_view text(NodeId node) const { return tree.text(node); }

 private:
  void find_functions();
  void find_main_guards();
  void find_kernel_strings();
  void find_kernel_names();
  void find_launches();
  void find_entry_points();
  void find_uses();
  void find_launchers();
  bool is_jit(NodeId expression) const;
  bool taint(const std::string& name) { return kernel_names_.insert(name).second; }
  bool taint_target(NodeId target);
  bool taint_parameters_of(const std::string& called);
  bool spread_kernel_names();

  // Names of kernels, and of variables, attributes and parameters that may hold one.
  std::set<std::string> kernel_names_;
  std::set<std::string> given_kernels_;  // functions that receive a kernel in some call
  std::set<std::string> launchers_;      // functions that launch, or call one that does
  std::vector<NodeId> main_guards_;
};

}  // namespace tritonsmith::inspect
