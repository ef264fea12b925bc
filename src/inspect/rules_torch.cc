// Rules about torch: does anything other than a kernel compute? They report only what is plain in
// the text of ModelNew.forward. The launch plan knows which operators ran.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "inspect/layers.h"
#include "inspect/rules.h"
#include "inspect/torch_functions.h"

namespace tritonsmith::inspect {
namespace {

struct Compute {
  NodeId node = kNoNode;
  std::string what;
  bool always = false;  // not within an `if`, an `except` or similar
};

// Tells whether forward has a `return` before this position, which may or may not be taken.
bool may_have_returned(const Candidate& candidate, NodeId position) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = candidate.forward; id < position; ++id)
    if (tree.is(id, "return_statement") && !tree.within(position, id) &&
        tree.around(id, {"function_definition", "lambda"}) == candidate.forward)
      return true;
  return false;
}

// Finds computations of torch in ModelNew.forward.
std::vector<Compute> torch_computations(const Candidate& candidate) {
  const SyntaxTree& tree = candidate.tree;
  std::vector<Compute> found;
  if (candidate.forward == kNoNode) return found;
  std::vector<std::string> parameters;
  for (const NodeId parameter : tree.children(tree.child(candidate.forward, "parameters"))) {
    const auto inner = tree.children(parameter);
    parameters.emplace_back(candidate.text(inner.empty() ? parameter : inner.front()));
  }
  const auto layers = layers_of(candidate, tree.around(candidate.forward, {"class_definition"}));
  for (const Use& use : candidate.uses) {
    if (!use.called || !tree.within(use.node, candidate.forward)) continue;
    const std::size_t dot = use.path.find('.');
    const std::string first = use.path.substr(0, dot),
                      rest = dot == std::string::npos ? "" : use.path.substr(dot + 1);
    const bool method = !use.imported && first != "self" && computes_in_torch(rest) &&
                        std::ranges::find(parameters, first) != parameters.end();
    const bool layer = first == "self" && layers.contains(rest);
    if (!method && !layer && !(use.imported && is_torch_compute(use.path))) continue;
    const NodeId branch =
        tree.around(use.node, {"if_statement", "conditional_expression", "except_clause",
                               "case_clause", "function_definition", "lambda"});
    const bool always = branch == candidate.forward && !may_have_returned(candidate, use.node);
    found.push_back({use.node, layer ? layers.at(rest) : use.path, always});
  }
  return found;
}

}  // namespace

void find_torch_compute(const Candidate& candidate, Matches& matches) {
  for (const Compute& compute : torch_computations(candidate))
    if (compute.always)
      matches.add(compute.node, fmt::format("`{}` computes in place of a kernel", compute.what),
                  may_be_vendor_grade(compute.what) ? Policy::fused : Policy::open);
}

void find_torch_fallbacks(const Candidate& candidate, Matches& matches) {
  for (const Compute& compute : torch_computations(candidate))
    if (!compute.always)
      matches.add(compute.node, fmt::format("`{}` may compute in place of a kernel", compute.what));
}

// Reports a choice between kernels and torch by the module's mode. The judge compares only
// one of the two.
void find_mode_branches(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  if (candidate.forward == kNoNode) return;
  const auto computations = torch_computations(candidate);
  for (NodeId id = candidate.forward; id < tree[candidate.forward].after; ++id) {
    if (!tree.is(id, "if_statement")) continue;
    const std::string_view condition = candidate.text(tree.child(id, "condition"));
    const bool asks_for_mode = std::ranges::any_of(
        std::to_array<std::string_view>(
            {".training", "is_grad_enabled", "is_inference_mode_enabled", "requires_grad"}),
        [&](auto word) { return condition.find(word) != condition.npos; });
    if (!asks_for_mode) continue;
    const NodeId branch = tree.child(id, "consequence");
    const bool launches_inside = candidate.launches_within(branch);
    bool launches_outside = false, computes_inside = false, computes_outside = false;
    for (const NodeId launch : candidate.launches)
      launches_outside |= tree.within(launch, candidate.forward) && !tree.within(launch, branch);
    for (const Compute& compute : computations)
      (tree.within(compute.node, branch) ? computes_inside : computes_outside) = true;
    if ((launches_inside && !launches_outside && computes_outside) ||
        (!launches_inside && launches_outside && computes_inside))
      matches.add(id, "kernels compute in one mode, torch in the other");
  }
}

void find_result_caches(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  find_uses(candidate, matches,
            {"functools.lru_cache", "functools.cache", "functools.cached_property"},
            "may answer from an earlier call");
  for (NodeId id = 0; id < tree.size(); ++id)
    if (tree.is(id, "global_statement") && candidate.is_live(id))
      matches.add(id, "a global variable may carry results between calls");
  if (candidate.forward == kNoNode) return;
  for (const Use& use : candidate.uses)
    if (use.assigned && use.path.starts_with("self.") && tree.within(use.node, candidate.forward))
      matches.add(use.node, fmt::format("`{}` may carry results between calls", use.path));
}

void find_hooks(const Candidate& candidate, Matches& matches) {
  for (const Use& use : candidate.uses) {
    const std::string_view name = std::string_view(use.path).substr(use.path.rfind('.') + 1);
    if (use.called && name.starts_with("register_") && name.ends_with("_hook"))
      matches.add(use.node, fmt::format("`{}` hides code from forward", name));
  }
}

void find_streams(const Candidate& candidate, Matches& matches) {
  find_uses(
      candidate, matches,
      {"torch.cuda.Stream", "torch.cuda.stream", "torch.cuda.ExternalStream", "torch.cuda.graph",
       "torch.cuda.CUDAGraph", "torch.cuda.set_stream", "torch.cuda.default_stream"},
      "is ignored: a judge runs all steps in order on one stream");
}

void find_global_flags(const Candidate& candidate, Matches& matches) {
  for (const Use& use : candidate.uses)
    if (use.assigned && is_or_is_in(use.path, "torch.backends"))
      matches.add(use.node, fmt::format("`{}` is ignored: a judge keeps its own flags", use.path));
  find_uses(candidate, matches,
            {"torch.set_float32_matmul_precision", "torch.use_deterministic_algorithms",
             "torch.manual_seed", "torch.set_default_dtype", "torch.set_default_device",
             "torch.set_rng_state", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all",
             "torch.cuda.set_device"},
            "changes the state of torch");
}

}  // namespace tritonsmith::inspect
