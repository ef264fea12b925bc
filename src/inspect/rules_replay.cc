// Rules about reuse: does forward answer from an earlier call, or behave differently when it
// expects no comparison? A plan holds one call, so most of these tricks gain nothing. The second
// call of the capture also reveals most of them. A model must not learn them anyway.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "inspect/rules.h"

namespace tritonsmith::inspect {
namespace {

std::string without_last_part(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

NodeId function_around(const Candidate& candidate, NodeId node) {
  return candidate.tree.around(node, {"function_definition", "lambda"});
}

// The values that one function stores for later calls.
class Keeping {
 public:
  Keeping(const Candidate& candidate, const Function& function)
      : candidate_(candidate), tree_(candidate.tree), function_(function) {
    find_locals();
    for (const Use& use : candidate.uses)
      if (tree_.within(use.node, function.node)) look_at(use);
    settle();
  }

  bool keeps(NodeId expression) const {
    const std::string path = path_of(expression);
    return !path.empty() && kept_.contains(path);
  }
  bool mentions(NodeId node) const {
    for (NodeId id = node; node != kNoNode && id < tree_[node].after; ++id)
      if (keeps(id)) return true;
    return false;
  }
  // Tells whether the condition tests only constants and values that earlier code of the call
  // settled, as in `if self.n is None: self.n = 8`. Such a condition has the same result in all
  // calls. `if self.n > 4:` then depends on no earlier call, but `if x.data_ptr() == self.n:` may.
  bool is_settled_before(NodeId branch) const {
    const NodeId condition = tree_.child(branch, "condition");
    if (condition == kNoNode) return false;
    for (NodeId id = condition; id < tree_[condition].after; ++id) {
      const bool is_chain = tree_.is(id, "identifier") && tree_[id].field != "attribute";
      if (tree_.is(id, "call") || (is_chain && !begins_kept(id))) return false;
      const auto settled = settled_.find(path_of(id));
      if (settled != settled_.end() && (!settled->second.for_good || settled->second.last > branch))
        return false;
    }
    return true;
  }

 private:
  struct Store {
    NodeId node = kNoNode;
    std::string path;
  };
  // The combined effect of all stores to one path.
  struct Settled {
    NodeId last = 0;
    bool for_good = true;
  };

  void find_locals() {
    for (NodeId id = function_.node; id < tree_[function_.node].after; ++id) {
      if (tree_.is(id, "assignment") || tree_.is(id, "for_statement"))
        add_locals(tree_.child(id, "left"));
      if (tree_.is(id, "named_expression")) add_locals(tree_.child(id, "name"));
      if (tree_.is(id, "as_pattern_target")) add_locals(tree_.last_child(id));
      if (tree_.is(id, "global_statement") || tree_.is(id, "nonlocal_statement"))
        for (const NodeId name : tree_.children(id))
          kept_.insert(std::string(candidate_.text(name)));
    }
    for (const std::string& name : kept_) locals_.erase(name);
  }

  // Adds the names that a target sets: a, b and c for `a, (b, *c), d.e, f[g] = ...`. The
  // parameters of a function are not among its locals, because a default or the caller's object
  // may outlive the call.
  void add_locals(NodeId target) {
    for (NodeId id = target; target != kNoNode && id < tree_[target].after; ++id) {
      const std::string_view around = tree_[tree_[id].parent].type;
      const bool is_set = id == target || around.ends_with("pattern") || around == "pattern_list";
      if (!tree_.is(id, "identifier") || !is_set) continue;
      const std::string name(candidate_.text(id));
      locals_.insert(name);
      stores_.push_back({id, name});  // the name may be a global
    }
  }

  void look_at(const Use& use) {
    constexpr auto kKeepers = std::to_array<std::string_view>(
        {"append", "appendleft", "add", "set", "setdefault", "update", "insert", "put"});
    const bool dotted = use.path.find('.') != std::string::npos;
    if (use.assigned &&
        (dotted || kept_.contains(use.path) ||
         (tree_.is(tree_[use.node].parent, "subscript") && !locals_.contains(use.path))))
      keep(use.node, use.path);
    const bool keeper =
        dotted && std::ranges::find(kKeepers, last_part(use.path)) != kKeepers.end();
    if (use.called && keeper && !locals_.contains(without_last_part(use.path)))
      keep(use.node, without_last_part(use.path));
  }

  void keep(NodeId node, const std::string& path) {
    kept_.insert(path);
    stores_.push_back({node, path});
  }

  // Tells whether a chain such as `self.device.major` begins with a kept value: `self`,
  // `self.device`, or the whole chain.
  bool begins_kept(NodeId name) const {
    for (NodeId id = name; tree_.is(id, "attribute") || id == name; id = tree_[id].parent)
      if (keeps(id)) return true;
    return false;
  }

  void settle() {
    // These are the ifs in the function's own body whose branch stores a value that they
    // found missing.
    std::set<NodeId> guards;
    for (const Store& store : stores_)
      if (const NodeId guard = guard_around(store.node);
          guard != kNoNode && asks_whether_missing(tree_.child(guard, "condition"), store.path))
        guards.insert(guard);
    for (const Store& store : stores_) {
      Settled& settled = settled_[store.path];
      settled.last = std::max(settled.last, store.node);
      settled.for_good &= guards.contains(guard_around(store.node)) && is_plain(store.node);
    }
  }

  // Returns the `if` in the function's own body whose first branch contains the store, or kNoNode.
  NodeId guard_around(NodeId store) const {
    const NodeId branch = tree_.around(store, {"if_statement", "function_definition", "lambda"});
    const NodeId made = tree_.child(branch, "consequence");
    const bool is_guard = tree_.is(branch, "if_statement") && made != kNoNode &&
                          tree_[branch].parent == tree_.child(function_.node, "body") &&
                          tree_.within(store, made);
    return is_guard ? branch : kNoNode;
  }

  // True for `P = ...` with a new value. A store to a part of P, or to several names, may not be
  // the only one. A value that derives from a kept one may differ in a later call.
  bool is_plain(NodeId store) const {
    const NodeId assignment = tree_[store].parent;
    return tree_.is(assignment, "assignment") && tree_[store].field == "left" &&
           !mentions(tree_.child(assignment, "right"));
  }

  bool asks_whether_missing(NodeId condition, const std::string& path) const {
    const std::string owner = without_last_part(path);
    const std::string_view name = last_part(path);
    const auto ways = std::to_array<std::string>(
        {path + " is None", "not " + path, fmt::format("not hasattr({}, \"{}\")", owner, name),
         fmt::format("not hasattr({}, '{}')", owner, name)});
    return std::ranges::find(ways, candidate_.text(condition)) != ways.end();
  }

  // Returns the path that an expression reads from: known[key], kept.get(key) and kept[0].clone()
  // all read their first part.
  std::string path_of(NodeId at) const {
    constexpr auto kReaders =
        std::to_array<std::string_view>({"get", "pop", "popleft", "clone", "detach"});
    while (at != kNoNode) {
      if (tree_.is(at, "subscript")) {
        at = tree_.child(at, "value");
      } else if (tree_.is(at, "parenthesized_expression")) {
        at = tree_.last_child(at);
      } else if (tree_.is(at, "call") && tree_.is(tree_.child(at, "function"), "attribute")) {
        const NodeId method = tree_.child(at, "function");
        const std::string_view name = candidate_.text(tree_.child(method, "attribute"));
        if (std::ranges::find(kReaders, name) == kReaders.end()) return {};
        at = tree_.child(method, "object");
      } else {
        break;
      }
    }
    if (!tree_.is(at, "identifier") && !tree_.is(at, "attribute")) return {};
    return candidate_.names.resolve(at).path;
  }

  const Candidate& candidate_;
  const SyntaxTree& tree_;
  const Function& function_;
  std::set<std::string> locals_, kept_;
  std::vector<Store> stores_;
  std::map<std::string, Settled> settled_;
};

// Reports an answer with a kept value under a condition. The condition tests whether there was
// an earlier call.
void find_kept_answers(const Candidate& candidate, const Function& function, const Keeping& keeping,
                       Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = function.node; id < tree[function.node].after; ++id) {
    if (!tree.is(id, "return_statement") || function_around(candidate, id) != function.node)
      continue;
    const NodeId answer = tree.last_child(id);
    const NodeId branch = tree.around(id, {"if_statement", "try_statement", "function_definition"});
    const bool conditional = !tree.is(branch, "function_definition");
    if (conditional && answer != kNoNode && keeping.keeps(answer))
      matches.add(id, "returns what an earlier call kept");
    if (tree.is(answer, "conditional_expression"))
      for (const NodeId side : tree.children(answer))
        if (keeping.keeps(side)) matches.add(id, "returns what an earlier call kept");
  }
}

// Tells whether every way through the branch launches a kernel.
bool launches_either_way(const Candidate& candidate, NodeId branch) {
  const SyntaxTree& tree = candidate.tree;
  bool has_else = false;
  for (const NodeId part : tree.children(branch)) {
    if (tree[part].field == "condition") continue;
    if (!candidate.launches_within(part)) return false;
    has_else |= tree.is(part, "else_clause");
  }
  return has_else;
}

// Returns the launches in a function. The replay of a CUDA graph repeats the launches that it
// recorded.
std::vector<NodeId> launches_in(const Candidate& candidate, NodeId function) {
  std::vector<NodeId> launches;
  for (const NodeId launch : candidate.launches)
    if (candidate.tree.within(launch, function)) launches.push_back(launch);
  for (const Use& use : candidate.uses)
    if (use.called && last_part(use.path) == "replay" && candidate.tree.within(use.node, function))
      launches.push_back(use.node);
  return launches;
}

// Whether the launches of one function depend on values that an earlier call kept.
struct LaunchDependence {
  NodeId first = kNoNode;        // the first launch, if all launches depend on such a value
  bool has_independent = false;  // a launch depends on none
};

// A choice between launches by a settled value, such as the number of processors, does not depend
// on an earlier call. A choice by a value that the branch itself changes does, since the other
// launch may do nothing.
LaunchDependence dependence_of_launches(const Candidate& candidate, const Function& function,
                                        const Keeping& keeping) {
  const SyntaxTree& tree = candidate.tree;
  // Each choice is examined once, however many launches it contains.
  std::map<NodeId, bool> choices;
  const auto is_choice = [&](NodeId branch) {
    const auto [known, is_new] = choices.try_emplace(branch, false);
    if (is_new)
      known->second = keeping.is_settled_before(branch) && launches_either_way(candidate, branch);
    return known->second;
  };
  NodeId first = kNoNode;
  for (const NodeId launch : launches_in(candidate, function.node)) {
    NodeId branch = launch;
    do branch = tree.around(branch, {"if_statement", "function_definition", "lambda"});
    while (tree.is(branch, "if_statement") && is_choice(branch));
    if (!tree.is(branch, "if_statement") || !keeping.mentions(tree.child(branch, "condition")))
      return {.has_independent = true};
    if (first == kNoNode) first = launch;
  }
  return {.first = first};
}

}  // namespace

void find_replayed_results(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  std::vector<NodeId> dependent_launches;
  bool launches_in_each_call = false;
  for (const Function& function : candidate.functions) {
    if (function.is_kernel || function.name == "__init__" || !candidate.is_live(function.node) ||
        !candidate.launches_within(function.node))
      continue;
    const Keeping keeping(candidate, function);
    find_kept_answers(candidate, function, keeping, matches);
    const LaunchDependence dependence = dependence_of_launches(candidate, function, keeping);
    launches_in_each_call |= dependence.has_independent;
    if (dependence.first != kNoNode) dependent_launches.push_back(dependence.first);
    for (NodeId id = function.node; id < tree[function.node].after; ++id)
      if (tree.is(id, "yield") && function_around(candidate, id) == function.node)
        matches.add(id, "a generator that launches keeps its outputs between calls");
  }
  // Beside a launch in each call, such a function may pack a weight in the first one.
  if (!launches_in_each_call)
    for (const NodeId launch : dependent_launches)
      matches.add(launch, "is launched only if an earlier call did not");
}

void find_external_streams(const Candidate& candidate, Matches& matches) {
  constexpr auto kExternal = std::to_array<std::string_view>(
      {"torch.cuda.ExternalStream", "torch.cuda.get_stream_from_external"});
  find_uses_of(candidate, matches, kExternal, "a stream that torch did not make");
}

void find_waits(const Candidate& candidate, Matches& matches) {
  constexpr auto kWaits = std::to_array<std::string_view>({"time.sleep", "torch.cuda._sleep"});
  find_uses_of(candidate, matches, kWaits, "does nothing but take time");
}

}  // namespace tritonsmith::inspect
