// Rules about the kernel: is there one, and can it do the work?
#include <algorithm>
#include <array>
#include <map>

#include "inspect/imports.h"
#include "inspect/rules.h"

namespace tritonsmith::inspect {

void find_broken_syntax(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id)
    if (tree[id].broken)
      return matches.add(id, "this is not Python");  // the findings after it are seldom useful
}

// Text that Python reads differently than a person or these rules do.
void find_disguised_text(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  const std::string& source = tree.source();
  find_spelled_letters(candidate, matches);
  if (source.find('\0') != std::string::npos) matches.add_line(0, "the file holds a NUL byte");
  for (NodeId id = 0; id < tree.size(); ++id) {
    const std::string_view text = candidate.text(id);
    if (tree.is(id, "comment") && tree[id].line <= 2) {
      const std::size_t coding = text.find("coding");
      const bool declares = coding != std::string_view::npos && coding + 6 < text.size() &&
                            (text[coding + 6] == ':' || text[coding + 6] == '=');
      if (declares && text.find("utf-8") == std::string_view::npos &&
          text.find("utf8") == std::string_view::npos)
        matches.add(id, "the file declares an encoding other than UTF-8");
    }
    if (tree.is(id, "identifier") && normal_identifier(text) != text)
      matches.add(id, fmt::format("`{}` is `{}` to Python", text, normal_identifier(text)));
  }
}

void find_missing_entry_point(const Candidate& candidate, Matches& matches) {
  if (candidate.entry_points.empty() && !candidate.defines("ModelNew"))
    matches.add_line(0, "the file does not define `ModelNew`");
}

void find_several_entry_points(const Candidate& candidate, Matches& matches) {
  for (std::size_t i = 1; i < candidate.entry_points.size(); ++i)
    matches.add(candidate.entry_points[i], "`ModelNew` is defined again");
}

// Says what stands in the place of a kernel, if the file shows it.
void find_missing_kernel(const Candidate& candidate, Matches& matches) {
  if (candidate.has_kernel) return;
  const auto uses = [&](std::string_view module) {
    return std::ranges::find_if(candidate.uses, [&](const Use& use) {
      return use.imported && is_or_is_in(use.path, module) &&
             !candidate.names.imports().contains(use.node);
    });
  };
  if (const auto gluon = uses("triton.experimental.gluon"); gluon != candidate.uses.end())
    return matches.add(gluon->node,
                       "Gluon kernels are not judged, since they have no Triton IR; write the "
                       "kernel with `@triton.jit`");
  const auto table = uses("torch.ops");
  matches.add_line(
      0, table == candidate.uses.end()
             ? "there is no `@triton.jit` kernel"
             : fmt::format("there is no `@triton.jit` kernel in the file, and the code behind `{}` "
                           "is not here to be judged",
                           table->path));
}

void find_missing_launch(const Candidate& candidate, Matches& matches) {
  if (!candidate.has_kernel) return;
  for (const NodeId launch : candidate.launches)
    if (candidate.is_live(launch)) return;
  for (const Function& function : candidate.functions)
    if (function.is_kernel)
      return matches.add(function.node,
                         fmt::format("no kernel is ever launched, not even `{}`", function.name));
  matches.add_line(0, "no kernel is ever launched");
}

void find_unused_kernels(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  std::map<std::string, std::vector<NodeId>> mentions;
  for (NodeId id = 0; id < tree.size(); ++id)
    if (tree.is(id, "identifier")) mentions[normal_identifier(candidate.text(id))].push_back(id);
  for (const Function& function : candidate.functions) {
    if (!function.is_kernel) continue;
    const bool used = std::ranges::any_of(
        mentions[function.name], [&](NodeId id) { return !tree.within(id, function.node); });
    if (!used)
      matches.add(function.node, fmt::format("the kernel `{}` is never used", function.name));
  }
}

namespace {

// A handler that always raises hides no error.
bool always_raises(const SyntaxTree& tree, NodeId except_clause) {
  const NodeId block = tree.last_child(except_clause);
  return tree.is(block, "block") && tree.is(tree.last_child(block), "raise_statement");
}

bool swallows(const SyntaxTree& tree, NodeId try_statement) {
  return std::ranges::any_of(tree.children(try_statement), [&](NodeId part) {
    return (tree.is(part, "except_clause") || tree.is(part, "except_group_clause")) &&
           !always_raises(tree, part);
  });
}

// A `return` in `finally` replaces the exception that was raised.
bool returns_in_finally(const SyntaxTree& tree, NodeId try_statement) {
  for (const NodeId part : tree.children(try_statement))
    if (tree.is(part, "finally_clause"))
      for (NodeId id = part; id < tree[part].after; ++id)
        if (tree.is(id, "return_statement")) return true;
  return false;
}

// A `def __exit__(...)` that returns a value may swallow the exceptions of its `with` block.
bool defines_swallowing_context(const Candidate& candidate) {
  const SyntaxTree& tree = candidate.tree;
  for (const Function& function : candidate.functions) {
    if (function.name != "__exit__") continue;
    for (NodeId id = function.node; id < tree[function.node].after; ++id)
      if (tree.is(id, "return_statement") && tree.last_child(id) != kNoNode &&
          !tree.is(tree.last_child(id), "none") && !tree.is(tree.last_child(id), "false"))
        return true;
  }
  return false;
}

// Reports @forgiving on a function that launches, if `def forgiving` catches the exceptions
// of its function.
void find_forgiving_decorators(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "decorator") || !candidate.is_live(id) ||
        !candidate.launches_within(tree[id].parent))
      continue;
    const NodeId expression = tree.last_child(id);
    const NodeId name =
        tree.is(expression, "call") ? tree.child(expression, "function") : expression;
    for (const Function& function : candidate.functions) {
      if (function.is_kernel || function.name != candidate.text(name)) continue;
      for (NodeId inner = function.node; inner < tree[function.node].after; ++inner)
        if (tree.is(inner, "try_statement") &&
            (swallows(tree, inner) || returns_in_finally(tree, inner)))
          matches.add(id, "a decorator catches a kernel's failure");
    }
  }
}

}  // namespace

void find_guarded_launches(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  const bool has_context = defines_swallowing_context(candidate);
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!candidate.is_live(id)) continue;
    if (tree.is(id, "try_statement") && (swallows(tree, id) || returns_in_finally(tree, id)) &&
        candidate.launches_within(tree.child(id, "body")))
      matches.add(id, "a kernel's failure is caught, so something else may take its place");
    if (!tree.is(id, "with_item")) continue;
    const NodeId call = tree.child(id, "value");
    const std::string path =
        candidate.names.resolve(tree.is(call, "call") ? tree.child(call, "function") : call).path;
    const bool suppresses = path.ends_with("suppress") || (has_context && candidate.defines(path));
    if (suppresses && candidate.launches_within(tree.around(id, {"with_statement"})))
      matches.add(id, "a kernel's failure is suppressed, so something else may take its place");
  }
  find_forgiving_decorators(candidate, matches);
}

// A copy of the reference is a Model that ModelNew builds. If ModelNew is another name of NetNew,
// it is a Net that NetNew builds.
bool builds_a_copy(const Candidate& candidate, const Use& use) {
  const NodeId around = candidate.tree.around(use.node, {"class_definition"});
  if (!use.called || around == kNoNode || !candidate.defines(use.path)) return false;
  const std::string_view builder = candidate.text(candidate.tree.child(around, "name"));
  return (use.path == "Model" && (builder == "ModelNew" || builder == candidate.entry_class)) ||
         (builder == candidate.entry_class && builder == use.path + "New");
}

void find_reference_uses(const Candidate& candidate, Matches& matches) {
  const bool own_model = candidate.defines("Model");
  for (const Use& use : candidate.uses) {
    const std::string_view name = last_part(use.path);
    const bool inputs = name == "get_inputs" || name == "get_init_inputs";
    if (inputs && is_idle_import(candidate, use)) continue;
    const bool by_name = use.path == "Model" && !own_model;
    const bool task_module =
        use.imported && (is_or_is_in(use.path, "__main__") || is_or_is_in(use.path, "reference") ||
                         is_or_is_in(use.path, "task") || use.path.ends_with(".Model"));
    if (by_name || task_module)
      matches.add(use.node, fmt::format("`{}` is the reference's", use.path));
    if (builds_a_copy(candidate, use))
      matches.add(use.node, "a copy of the reference is built to compute with");
  }
}

void find_judge_uses(const Candidate& candidate, Matches& matches) {
  constexpr auto kJudges = std::to_array<std::string_view>(
      {"tritonsmith", "tritonsmith_guest", "kernelgym", "robust_kbench"});
  for (const Use& use : candidate.uses)
    if (use.imported &&
        std::ranges::any_of(kJudges, [&](auto judge) { return is_or_is_in(use.path, judge); }))
      matches.add(use.node, fmt::format("`{}` is the judge's", use.path));
}

void find_redefined_task_functions(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  constexpr auto kTask =
      std::to_array<std::string_view>({"Model", "get_inputs", "get_init_inputs"});
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "class_definition") && !tree.is(id, "function_definition")) continue;
    const std::string_view name = candidate.text(tree.child(id, "name"));
    if (std::ranges::find(kTask, name) != kTask.end())
      matches.add(id, fmt::format("`{}` is the task's; this one is not used", name));
  }
}

}  // namespace tritonsmith::inspect
