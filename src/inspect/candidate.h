// Candidate: what the rules want to know about a file, found once: its kernels, what launches them,
// its entry point, and every use of an imported name. Built from hostile text; conservative: what
// cannot be told is taken for honest, since the launch plan will tell.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/names.h"
#include "inspect/syntax_tree.h"

namespace tritonsmith::inspect {

// A mention of a name: the outermost expression that is a chain of names, or an import.
struct Use {
  NodeId node = kNoNode;
  std::string path;
  bool imported = false;
  bool called = false;    // it is what a call calls
  bool assigned = false;  // it is the target of an assignment or del, or of one of its items: x.a =
                          // 1, x.a["k"] = 1
};

struct Function {
  NodeId node = kNoNode;  // function_definition
  std::string name;
  bool is_kernel = false;  // @triton.jit, with or without an autotuner around it
};

class Candidate {
 public:
  explicit Candidate(std::string source);

  SyntaxTree tree;
  Names names;
  std::vector<Use> uses;
  std::vector<Function> functions;
  std::vector<NodeId> launches;      // calls kernel[grid](...), kernel.run(...)
  std::vector<NodeId> entry_points;  // definitions of ModelNew
  std::string entry_class;           // ModelNew, or the class that it is another name of
  NodeId forward = kNoNode;          // ModelNew.forward, the last one defined
  bool has_kernel = false;           // `names` of jit decorators, or f = triton.jit(f)

  // Not within `if __name__ == "__main__":`, which a judge never runs.
  bool is_live(NodeId node) const;
  // The class or function of this name, at the top of the file.
  bool defines(std::string_view name) const;
  // Whether a kernel's name, or one that stands for a kernel, is mentioned there.
  bool mentions_kernel(NodeId node) const;
  // Whether code there launches a kernel, or calls a function of the file that does.
  bool launches_within(NodeId node) const;
  std::string_view text(NodeId node) const { return tree.text(node); }

 private:
  void find_functions();
  void find_main_guards();
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

  std::set<std::string>
      kernel_names_;  // of kernels, and of variables, attributes and parameters that may hold one
  std::set<std::string> given_kernels_;  // functions that are called with a kernel somewhere
  std::set<std::string> launchers_;      // functions of the file that launch, or call one that does
  std::vector<NodeId> main_guards_;
};

}  // namespace tritonsmith::inspect
