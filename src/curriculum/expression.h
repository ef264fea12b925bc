// Expression: a composition of operators as a tree. The leaves are the module's inputs; children[0]
// is the main operand, the value that flows through a chain. Pure data and pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "curriculum/operators.h"

namespace tritonsmith::curriculum {

struct Expression {
  Op op = Op::input;
  Constants constants;
  std::vector<Expression> children;
  int input = 0;  // which input a leaf is

  bool operator==(const Expression&) const = default;
};

Expression leaf(int input);
Expression apply(Op op, Constants constants, std::vector<Expression> children);

// Operators in the tree, leaves not counted.
int operator_count(const Expression& tree);

// What is computed, up to constants, shapes and the order in which associative and commutative
// operators were applied: "sum(mul(relu(a),b))". Inputs are named by where they appear.
std::string canonical_form(const Expression& tree);

// The classes of all operators (operators.h). Ignores the order of operators altogether, so
// whatever equals another tree up to constants, shapes or order has the same set; the grammar uses
// no class twice in one tree.
using OperatorClasses = std::set<std::string, std::less<>>;
OperatorClasses operator_classes(const Expression& tree);

// Every tree that comes about by taking out one operator (a binary one leaves an operand, if the
// other is a mere input).
std::vector<Expression> without_one_operator(const Expression& tree);

// The row operator (reduction, softmax, norm, matmul) in the tree, or null: there is at most one.
const Expression* find_core(const Expression& tree);
// The tree with the core replaced by a leaf Op::core_value: what follows the core.
Expression after_core(const Expression& tree);

}  // namespace tritonsmith::curriculum
