#include "curriculum/teacher/mistakes.h"

#include <cmath>

#include "curriculum/trial.h"

namespace tritonsmith::curriculum {
namespace {

// Collects the elementwise operators with one operand, in the order of their application.
void collect(Expression& tree, std::vector<Expression*>& found) {
  for (Expression& child : tree.children) collect(child, found);
  if (describe(tree.op).kind == OpKind::unary) found.push_back(&tree);
}

void forget(Expression& tree) {
  Expression child = tree.children[0];
  tree = std::move(child);
}

void mistake_for_another(Expression& tree, Rng& rng) {
  static const std::vector<Op> kUsual = {Op::relu, Op::sigmoid, Op::tanh,        Op::silu,
                                         Op::abs,  Op::square,  Op::exp_neg_abs, Op::sin};
  tree.op = rng.pick(kUsual);
  tree.constants.clear();
}

// Tells whether the programs differ in more than a few elements, by more than any tolerance.
bool differ(const Program& a, const Program& b, const Rng& rng) {
  const auto first = try_out(a, 4, 48, rng), second = try_out(b, 4, 48, rng);
  if (first.size() != second.size()) return true;
  std::size_t different = 0;
  for (std::size_t i = 0; i < first.size(); ++i)
    different += !(std::fabs(first[i] - second[i]) <= 1e-2 * (0.1 + std::fabs(first[i])));
  return 20 * different > first.size();
}

}  // namespace

std::optional<Program> with_mistake(const Program& program, Rng& rng) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    Program wrong = program;
    std::vector<Expression*> nodes;
    collect(wrong.root, nodes);
    if (nodes.empty()) return std::nullopt;
    Expression& node = *rng.pick(nodes);
    const double kind = rng.uniform();
    if (kind < 0.4 && operator_count(wrong.root) > 1)
      forget(node);
    else if (kind < 0.8 || node.constants.empty())
      mistake_for_another(node, rng);
    else
      node.constants.back() += 0.25;
    if (differ(program, wrong, rng)) return wrong;
  }
  return std::nullopt;
}

}  // namespace tritonsmith::curriculum
