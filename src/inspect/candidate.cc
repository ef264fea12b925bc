#include "inspect/candidate.h"

#include <algorithm>

#include "inspect/triton_names.h"

namespace tritonsmith::inspect {
namespace {

bool is_name(const SyntaxTree& tree, NodeId node) {
  return tree.is(node, "identifier") || tree.is(node, "attribute");
}

// Tells whether the expression or one of its items is written to.
bool is_assigned(const SyntaxTree& tree, NodeId node) {
  for (NodeId at = node, parent = tree[node].parent; parent != kNoNode;
       at = parent, parent = tree[at].parent) {
    const Node& around = tree[parent];
    const std::string_view part = tree[at].field;
    if (around.type == "assignment" || around.type == "augmented_assignment") return part == "left";
    if (around.type == "delete_statement") return true;
    const bool leads_on = (around.type == "subscript" && part == "value") ||
                          around.type == "pattern_list" || around.type == "tuple_pattern" ||
                          around.type == "expression_list";
    if (!leads_on) return false;
  }
  return false;
}

}  // namespace

Candidate::Candidate(std::string source) : tree(std::move(source)), names(tree) {
  find_main_guards();
  find_kernel_strings();
  find_functions();
  find_kernel_names();
  find_launches();
  find_entry_points();
  find_uses();
  find_launchers();
}

bool Candidate::is_live(NodeId node) const {
  return std::ranges::none_of(main_guards_, [&](NodeId guard) { return tree.within(node, guard); });
}

void Candidate::find_main_guards() {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree.is(id, "assignment") && text(tree.child(id, "left")) == "__name__") {
      main_guards_.clear();  // code that sets __name__ means the guard to run
      return;
    }
    if (!tree.is(id, "if_statement") || !tree.is(tree[id].parent, "module")) continue;
    const NodeId condition = tree.child(id, "condition");
    const auto sides = tree.children(condition);
    if (tree.is(condition, "comparison_operator") && sides.size() == 2 &&
        text(sides[0]) == "__name__" && literal_text(tree, sides[1]) == "__main__")
      main_guards_.push_back(tree.child(id, "consequence"));
  }
}

void Candidate::find_kernel_strings() {
  for (NodeId id = 0; id < tree.size(); ++id) {
    const NodeId function = tree.is(id, "call") ? tree.child(id, "function") : kNoNode;
    if (!tree.is(function, "attribute") || text(tree.child(function, "attribute")) != kTriton)
      continue;
    const auto arguments = tree.children(tree.child(id, "arguments"));
    if (arguments.size() >= 2 && !literal_text(tree, arguments[1]).empty())
      kernel_strings.push_back(id);
  }
}

bool Candidate::is_jit(NodeId expression) const {
  const NodeId function =
      tree.is(expression, "call") ? tree.child(expression, "function") : expression;
  return is_triton_jit(names.resolve(function).path);
}

void Candidate::find_functions() {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "function_definition")) continue;
    Function function{.node = id, .name = normal_identifier(text(tree.child(id, "name")))};
    const NodeId around = tree[id].parent;
    if (tree.is(around, "decorated_definition"))
      for (const NodeId decorator : tree.children(around))
        if (tree.is(decorator, "decorator") && is_jit(tree.last_child(decorator)))
          function.is_kernel = true;
    has_kernel |= function.is_kernel;
    functions.push_back(std::move(function));
  }
}

bool Candidate::mentions_kernel(NodeId node) const {
  if (node == kNoNode) return false;
  for (NodeId id = node; id < tree[node].after; ++id)
    if (tree.is(id, "identifier") && kernel_names_.contains(normal_identifier(text(id))))
      return true;
  return false;
}

// Taints every identifier in an assignment's target: `k`, `self.k`, `a, b`.
bool Candidate::taint_target(NodeId target) {
  bool grew = false;
  if (tree.is(target, "identifier")) return taint(normal_identifier(text(target)));
  if (tree.is(target, "attribute"))
    return taint(normal_identifier(text(tree.child(target, "attribute"))));
  if (tree.is(target, "subscript")) return taint_target(tree.child(target, "value"));
  for (const NodeId part : tree.children(target))
    if (is_name(tree, part)) grew |= taint_target(part);
  return grew;
}

// Any argument of the function may be the kernel.
bool Candidate::taint_parameters_of(const std::string& called) {
  bool grew = false;
  for (const Function& function : functions) {
    if (function.is_kernel || function.name != called) continue;
    for (const NodeId parameter : tree.children(tree.child(function.node, "parameters"))) {
      const auto inner = tree.children(parameter);
      const NodeId name = inner.empty() ? parameter : inner.front();
      if (text(name) != "self") grew |= taint_target(name);
    }
  }
  return grew;
}

// One round of propagation: by assignments, loops, and arguments to functions of the file.
bool Candidate::spread_kernel_names() {
  bool grew = false;
  for (NodeId id = 0; id < tree.size(); ++id) {
    const std::string_view type = tree[id].type;
    const bool loop = type == "for_statement" || type == "for_in_clause";
    if (type == "assignment" || type == "named_expression" || loop) {
      const NodeId left = tree.child(id, type == "named_expression" ? "name" : "left");
      if (left == kNoNode ||
          !mentions_kernel(tree.child(id, type == "named_expression" ? "value" : "right")))
        continue;
      grew |= taint_target(left);
    } else if (type == "call" && mentions_kernel(tree.child(id, "arguments"))) {
      const std::string path = names.resolve(tree.child(id, "function")).path;
      const std::string called = path.substr(path.rfind('.') + 1);
      if (!called.empty() && given_kernels_.insert(called).second)
        grew |= taint_parameters_of(called);
    }
  }
  return grew;
}

void Candidate::find_kernel_names() {
  for (const Function& function : functions)
    if (function.is_kernel) taint(function.name);
  has_kernel |= !kernel_strings.empty();
  for (NodeId id = 0; id < tree.size(); ++id) {
    const bool is_name_of_jit = is_name(tree, id) && is_jit(id);
    has_kernel |= is_name_of_jit;
    const bool makes_kernel = tree.is(id, "call") && is_jit(id);
    if (!makes_kernel && std::ranges::find(kernel_strings, id) == kernel_strings.end()) continue;
    const NodeId around = tree.around(id, {"assignment", "decorator"});
    if (!tree.is(around, "assignment")) continue;
    has_kernel = true;
    taint_target(tree.child(around, "left"));
  }
  constexpr int kMostRounds = 6;
  for (int round = 0; round < kMostRounds && spread_kernel_names(); ++round) {
  }
}

void Candidate::find_launches() {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "call")) continue;
    const NodeId function = tree.child(id, "function");
    const bool by_grid =
        tree.is(function, "subscript") && mentions_kernel(tree.child(function, "value"));
    const bool by_run = tree.is(function, "attribute") &&
                        text(tree.child(function, "attribute")) == "run" &&
                        mentions_kernel(tree.child(function, "object"));
    // This also finds `launcher = kernel[grid]; launcher(x)`.
    const bool by_name = tree.is(function, "identifier") && mentions_kernel(function) &&
                         std::ranges::none_of(functions, [&](const Function& f) {
                           return f.name == text(function);
                         });
    if (by_grid || by_run || by_name) launches.push_back(id);
  }
}

// Python decides by the text alone whether a name is local: it is if the function has a parameter
// or an assignment of that name, and no `global` or `nonlocal` statement for it.
bool Candidate::is_local(NodeId identifier) const {
  const std::string name = normal_identifier(text(identifier));
  for (NodeId scope = tree.around(identifier, {"function_definition", "lambda"}); scope != kNoNode;
       scope = tree.around(scope, {"function_definition", "lambda"})) {
    const NodeId parameters = tree.child(scope, "parameters");
    const auto is_parameter = [&](NodeId id) {
      const std::string_view around = tree[tree[id].parent].type;
      return parameters != kNoNode && tree.within(id, parameters) && tree[id].field != "value" &&
             (around == "parameters" || around == "lambda_parameters" ||
              around == "typed_parameter" || tree[id].field == "name");
    };
    // A default is evaluated outside of its function.
    const bool is_default =
        parameters != kNoNode && tree.within(identifier, parameters) && !is_parameter(identifier);
    for (NodeId id = scope; !is_default && id < tree[scope].after; ++id) {
      if (!tree.is(id, "identifier") || normal_identifier(text(id)) != name) continue;
      const Node& around = tree[tree[id].parent];
      if (around.type == "global_statement" || around.type == "nonlocal_statement") return false;
      const bool is_set =
          around.type == "assignment" && tree[id].field == "left" &&
          tree.around(id, {"function_definition", "lambda", "class_definition"}) == scope;
      if (is_parameter(id) || is_set) return true;
    }
  }
  return false;
}

bool Candidate::launches_within(NodeId node) const {
  const auto launch = std::ranges::lower_bound(launches, node);
  if (launch != launches.end() && tree.within(*launch, node)) return true;
  for (auto use = std::ranges::lower_bound(uses, node, {}, &Use::node);
       use != uses.end() && tree.within(use->node, node); ++use)
    if (use->called && launchers_.contains(use->path.substr(use->path.rfind('.') + 1))) return true;
  return false;
}

// Each round finds the callers of the functions found by the round before.
void Candidate::find_launchers() {
  constexpr int kMostRounds = 5;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::size_t before = launchers_.size();
    for (const Function& function : functions)
      if (!launchers_.contains(function.name) && launches_within(function.node))
        launchers_.insert(function.name);
    if (launchers_.size() == before) return;
  }
}

bool Candidate::only_calls(std::string_view builtin) const {
  for (NodeId id = 0; id < tree.size(); ++id)
    if (tree.is(id, "identifier") && normal_identifier(text(id)) == builtin &&
        tree[id].field != "function")
      return false;
  return true;
}

bool Candidate::defines(std::string_view name) const {
  for (NodeId id = 0; id < tree.size(); ++id)
    if ((tree.is(id, "class_definition") || tree.is(id, "function_definition")) &&
        normal_identifier(text(tree.child(id, "name"))) == name)
      return true;
  return false;
}

void Candidate::find_entry_points() {
  entry_class = "ModelNew";
  for (NodeId id = 0; id < tree.size(); ++id) {  // ModelNew = FastModel
    if (!tree.is(id, "assignment") || normal_identifier(text(tree.child(id, "left"))) != "ModelNew")
      continue;
    entry_points.push_back(id);
    if (tree.is(tree.child(id, "right"), "identifier"))
      entry_class = normal_identifier(text(tree.child(id, "right")));
  }
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "class_definition")) continue;
    const std::string name = normal_identifier(text(tree.child(id, "name")));
    if (name == "ModelNew") entry_points.push_back(id);
    if (name != "ModelNew" && name != entry_class) continue;
    for (const Function& function : functions)
      if (function.name == "forward" && tree.around(function.node, {"class_definition"}) == id)
        forward = function.node;
  }
}

void Candidate::find_uses() {
  for (const auto& [node, path] : names.imports())
    if (is_live(node)) uses.push_back({.node = node, .path = path, .imported = true});
  for (NodeId id = 0; id < tree.size(); ++id) {
    const bool literal_getattr = tree.is(id, "call");
    if (!is_name(tree, id) && !literal_getattr) continue;
    const Node& node = tree[id];
    const bool part_of_longer = tree.is(node.parent, "attribute") ||
                                (tree.is(node.parent, "keyword_argument") && node.field == "name");
    if (part_of_longer ||
        tree.around(id, {"import_statement", "import_from_statement"}) != kNoNode || !is_live(id))
      continue;
    // `relu = F.relu` gives its own name a value, and changes nothing of torch.
    const bool is_bound =
        tree.is(id, "identifier") && node.field == "left" && tree.is(node.parent, "assignment");
    Name name = is_bound ? Name{.path = normal_identifier(text(id))} : names.resolve(id);
    if (name.path.empty()) continue;
    uses.push_back({.node = id,
                    .path = std::move(name.path),
                    .imported = name.imported,
                    .called = tree.is(node.parent, "call") && node.field == "function",
                    .assigned = is_assigned(tree, id)});
  }
  std::ranges::sort(uses, {}, &Use::node);
}

}  // namespace tritonsmith::inspect
