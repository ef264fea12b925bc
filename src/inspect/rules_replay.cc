// Does forward answer from an earlier call, or differently when it thinks that nobody compares?
// A plan holds one call, so most of this gains nothing here, and the capture's second call sees
// most of it; a model must not learn it anyway.
#include <algorithm>
#include <array>
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

// What one function stores where a later call finds it.
class Keeping {
 public:
  Keeping(const Candidate& candidate, const Function& function)
      : candidate_(candidate), tree_(candidate.tree), function_(function) {
    find_locals();
    for (const Use& use : candidate.uses)
      if (tree_.within(use.node, function.node)) look_at(use);
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

 private:
  void find_locals() {
    for (NodeId id = function_.node; id < tree_[function_.node].after; ++id) {
      if (tree_.is(id, "assignment") && tree_.is(tree_.child(id, "left"), "identifier"))
        locals_.insert(std::string(candidate_.text(tree_.child(id, "left"))));
      if (tree_.is(id, "global_statement") || tree_.is(id, "nonlocal_statement"))
        for (const NodeId name : tree_.children(id))
          kept_.insert(std::string(candidate_.text(name)));
    }
    for (const std::string& name : kept_) locals_.erase(name);
  }

  void look_at(const Use& use) {
    constexpr auto kKeepers = std::to_array<std::string_view>(
        {"append", "appendleft", "add", "set", "setdefault", "update", "insert", "put"});
    const bool dotted = use.path.find('.') != std::string::npos;
    if (use.assigned &&
        (dotted || (tree_.is(tree_[use.node].parent, "subscript") && !locals_.contains(use.path))))
      kept_.insert(use.path);
    const bool keeper =
        dotted && std::ranges::find(kKeepers, last_part(use.path)) != kKeepers.end();
    if (use.called && keeper && !locals_.contains(without_last_part(use.path)))
      kept_.insert(without_last_part(use.path));
  }

  // Of what is read: known[key], kept.get(key) and kept[0].clone() all read what is before them.
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
};

// Answers with something kept, on a condition: the condition is that there was an earlier call.
void find_kept_answers(const Candidate& candidate, const Function& function, const Keeping& keeping,
                       Places& places) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = function.node; id < tree[function.node].after; ++id) {
    if (!tree.is(id, "return_statement") || function_around(candidate, id) != function.node)
      continue;
    const NodeId answer = tree.last_child(id);
    const NodeId branch = tree.around(id, {"if_statement", "try_statement", "function_definition"});
    const bool conditional = !tree.is(branch, "function_definition");
    if (conditional && answer != kNoNode && keeping.keeps(answer))
      places.add(id, "returns what an earlier call kept");
    if (tree.is(answer, "conditional_expression"))
      for (const NodeId side : tree.children(answer))
        if (keeping.keeps(side)) places.add(id, "returns what an earlier call kept");
  }
}

// All launches of the function wait for something that an earlier call kept.
void find_kept_work(const Candidate& candidate, const Function& function, const Keeping& keeping,
                    Places& places) {
  const SyntaxTree& tree = candidate.tree;
  NodeId first = kNoNode;
  for (const NodeId launch : candidate.launches) {
    if (!tree.within(launch, function.node)) continue;
    const NodeId branch = tree.around(launch, {"if_statement", "function_definition", "lambda"});
    if (!tree.is(branch, "if_statement") || !keeping.mentions(tree.child(branch, "condition")))
      return;
    if (first == kNoNode) first = launch;
  }
  if (first != kNoNode) places.add(first, "is launched only if an earlier call did not");
}

// What one name stands for in its function: the right side of its only assignment there.
NodeId assigned_once(const Candidate& candidate, NodeId name) {
  const SyntaxTree& tree = candidate.tree;
  if (!tree.is(name, "identifier")) return kNoNode;
  const std::string wanted = normal_identifier(candidate.text(name));
  const NodeId function = function_around(candidate, name);
  if (function == kNoNode) return kNoNode;
  NodeId value = kNoNode;
  for (NodeId id = function; id < tree[function].after; ++id) {
    const bool is_it =
        tree.is(id, "identifier") && id != name && normal_identifier(candidate.text(id)) == wanted;
    if (!is_it || tree.is(tree[id].parent, "attribute")) continue;
    const NodeId around = tree[id].parent;
    const bool is_set = tree.is(around, "assignment") && tree[id].field == "left";
    if (is_set && value == kNoNode && function_around(candidate, id) == function)
      value = tree.child(around, "right");
    else if (!tree.is(around, "argument_list"))
      return kNoNode;  // set again, or something that we do not follow
  }
  return value;
}

// torch's own current or default stream, on which everything runs.
bool is_main_stream(const Candidate& candidate, NodeId stream) {
  const SyntaxTree& tree = candidate.tree;
  if (tree.is(stream, "keyword_argument")) stream = tree.child(stream, "value");
  if (const NodeId value = assigned_once(candidate, stream); value != kNoNode) stream = value;
  if (!tree.is(stream, "call")) return false;
  const Name name = candidate.names.resolve(tree.child(stream, "function"));
  const std::string_view what = last_part(name.path);
  return name.imported && (what == "current_stream" || what == "default_stream");
}

}  // namespace

void find_replayed_results(const Candidate& candidate, Places& places) {
  const SyntaxTree& tree = candidate.tree;
  for (const Function& function : candidate.functions) {
    if (function.is_kernel || function.name == "__init__" || !candidate.is_live(function.node) ||
        !candidate.launches_within(function.node))
      continue;
    const Keeping keeping(candidate, function);
    find_kept_answers(candidate, function, keeping, places);
    find_kept_work(candidate, function, keeping, places);
    for (NodeId id = function.node; id < tree[function.node].after; ++id)
      if (tree.is(id, "yield") && function_around(candidate, id) == function.node)
        places.add(id, "a generator that launches keeps its outputs between calls");
    const NodeId around = tree[function.node].parent;
    if (!tree.is(around, "decorated_definition")) continue;
    for (const NodeId decorator : tree.children(around)) {
      const NodeId expression = tree.last_child(decorator);
      const NodeId name =
          tree.is(expression, "call") ? tree.child(expression, "function") : expression;
      const std::string path = candidate.names.resolve(name).path;
      if (tree.is(decorator, "decorator") &&
          (path == "functools.lru_cache" || path == "functools.cache"))
        places.add(decorator, "a cached function launches, so it answers from earlier calls");
    }
  }
}

void find_unjoined_streams(const Candidate& candidate, Places& places) {
  const SyntaxTree& tree = candidate.tree;
  constexpr auto kJoins =
      std::to_array<std::string_view>({"wait_stream", "wait_event", "synchronize", "wait"});
  bool joined = false;
  for (const Use& use : candidate.uses)
    joined |= use.called && std::ranges::find(kJoins, last_part(use.path)) != kJoins.end();
  for (NodeId id = 0; id < tree.size() && !joined; ++id)  // side.synchronize() on any expression
    joined = tree.is(id, "attribute") &&
             std::ranges::find(kJoins, candidate.text(tree.child(id, "attribute"))) != kJoins.end();
  for (const Use& use : candidate.uses) {
    if (use.path == "torch.cuda.ExternalStream" && use.imported)
      places.add(use.node, "a stream that torch did not make");
    const bool enters = use.called && use.imported &&
                        (use.path == "torch.cuda.stream" || use.path == "torch.cuda.set_stream" ||
                         use.path == "torch.cuda.StreamContext");
    if (!enters || joined) continue;
    const auto which = tree.children(tree.child(tree[use.node].parent, "arguments"));
    if (which.size() != 1 || !is_main_stream(candidate, which[0]))
      places.add(use.node, "work on another stream, which nothing ever waits for");
  }
}

void find_waits(const Candidate& candidate, Places& places) {
  constexpr auto kWaits = std::to_array<std::string_view>({"time.sleep", "torch.cuda._sleep"});
  find_uses_of(candidate, places, kWaits, "does nothing but take time");
}

}  // namespace tritonsmith::inspect
