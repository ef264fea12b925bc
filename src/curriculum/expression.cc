#include "curriculum/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tritonsmith::curriculum {
namespace {

bool is_core(const Expression& tree) {
  const OpKind kind = describe(tree.op).kind;
  return kind == OpKind::reduction || kind == OpKind::row || kind == OpKind::matmul;
}

// Returns the name of an operator in the canonical form. An operator with a constant has the name
// of its two-operand form, with "C" as the operand.
std::string_view head_of(Op op) {
  switch (op) {
    case Op::add_constant:
      return "add";
    case Op::mul_constant:
    case Op::div_constant:
      return "mul";
    case Op::max_constant:
      return "maximum";
    case Op::min_constant:
      return "minimum";
    case Op::subtract_from:
      return "sub";
    default:
      return describe(op).name;
  }
}

bool is_associative(std::string_view head) {
  return head == "add" || head == "mul" || head == "maximum" || head == "minimum";
}

// A tree with flattened associative operators and sorted operands.
struct Canonical {
  std::string head;
  std::vector<Canonical> operands;
  int input = -1;

  // The text without the names of inputs. Operands are sorted by it.
  std::string shape() const {
    if (input >= 0) return "x";
    std::vector<std::string> parts;
    for (const Canonical& each : operands) parts.push_back(each.shape());
    return parts.empty() ? head : fmt::format("{}({})", head, fmt::join(parts, ","));
  }

  std::string text(std::map<int, char>& names) const {
    if (input >= 0) {
      const char next = static_cast<char>('a' + names.size());
      return std::string(1, names.try_emplace(input, next).first->second);
    }
    std::vector<std::string> parts;
    for (const Canonical& each : operands) parts.push_back(each.text(names));
    return parts.empty() ? head : fmt::format("{}({})", head, fmt::join(parts, ","));
  }
};

void append_operand(Canonical& into, Canonical operand) {
  if (operand.head == into.head && is_associative(into.head)) {
    for (Canonical& each : operand.operands) append_operand(into, std::move(each));
    return;
  }
  const bool second_constant = operand.head == "C" && is_associative(into.head) &&
                               std::any_of(into.operands.begin(), into.operands.end(),
                                           [](const Canonical& each) { return each.head == "C"; });
  if (!second_constant) into.operands.push_back(std::move(operand));
}

Canonical canonical(const Expression& tree) {
  if (tree.op == Op::input) return {.head = "input", .operands = {}, .input = tree.input};
  Canonical result{.head = std::string(head_of(tree.op)), .operands = {}, .input = -1};
  if (tree.op == Op::subtract_from)
    append_operand(result, {.head = "C", .operands = {}, .input = -1});
  for (const Expression& child : tree.children) append_operand(result, canonical(child));
  if (result.head != describe(tree.op).name && tree.op != Op::subtract_from)
    append_operand(result, {.head = "C", .operands = {}, .input = -1});
  if (is_associative(result.head) || is_commutative(tree.op))
    std::stable_sort(result.operands.begin(), result.operands.end(),
                     [](const Canonical& a, const Canonical& b) { return a.shape() < b.shape(); });
  return result;
}

}  // namespace

Expression leaf(int input) {
  return {.op = Op::input, .constants = {}, .children = {}, .input = input};
}

Expression apply(Op op, Constants constants, std::vector<Expression> children) {
  return {.op = op, .constants = std::move(constants), .children = std::move(children), .input = 0};
}

int operator_count(const Expression& tree) {
  int count = describe(tree.op).kind == OpKind::leaf ? 0 : 1;
  for (const Expression& child : tree.children) count += operator_count(child);
  return count;
}

std::string canonical_form(const Expression& tree) {
  std::map<int, char> names;
  return canonical(tree).text(names);
}

OperatorClasses operator_classes(const Expression& tree) {
  OperatorClasses classes;
  if (describe(tree.op).kind != OpKind::leaf) classes.emplace(describe(tree.op).op_class);
  for (const Expression& child : tree.children) classes.merge(operator_classes(child));
  return classes;
}

std::vector<Expression> without_one_operator(const Expression& tree) {
  std::vector<Expression> smaller;
  if (describe(tree.op).kind == OpKind::leaf) return smaller;
  for (const Expression& child : tree.children)
    if (operator_count(child) + 1 == operator_count(tree)) smaller.push_back(child);
  for (std::size_t i = 0; i < tree.children.size(); ++i)
    for (Expression& child : without_one_operator(tree.children[i])) {
      Expression copy = tree;
      copy.children[i] = std::move(child);
      smaller.push_back(std::move(copy));
    }
  return smaller;
}

const Expression* find_core(const Expression& tree) {
  if (is_core(tree)) return &tree;
  for (const Expression& child : tree.children)
    if (const Expression* found = find_core(child)) return found;
  return nullptr;
}

Expression after_core(const Expression& tree) {
  if (is_core(tree)) return {.op = Op::core_value, .constants = {}, .children = {}, .input = 0};
  Expression copy = tree;
  for (Expression& child : copy.children) child = after_core(child);
  return copy;
}

}  // namespace tritonsmith::curriculum
