// Expression: a composition of operators as a tree. Its leaves are the module's inputs. children[0]
// is the main operand, whose value flows through a chain of operators. The data and the functions
// are pure.
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
  int input = 0;  // the index of the input, for a leaf

  bool operator==(const Expression&) const = default;
};

Expression leaf(int input);
Expression apply(Op op, Constants constants, std::vector<Expression> children);

// Counts the operators in the tree, without the leaves.
int operator_count(const Expression& tree);

// Returns the computation up to constants, shapes and the order of associative and commutative
// operators: "sum(mul(relu(a),b))". Inputs are named in the order in which they appear.
std::string canonical_form(const Expression& tree);

// The classes of all operators in a tree (operators.h), without their order. Trees that are equal
// up to constants, shapes or order therefore have the same set. The grammar uses no class twice in
// one tree.
using OperatorClasses = std::set<std::string, std::less<>>;
OperatorClasses operator_classes(const Expression& tree);

// Returns every tree that results from taking out one operator. A binary operator leaves one
// operand if the other is a plain input.
std::vector<Expression> without_one_operator(const Expression& tree);

// Returns the row operator of the tree (reduction, softmax, norm, matmul), or null. A tree has at
// most one.
const Expression* find_core(const Expression& tree);
// Returns the operators that follow the core: the tree with the core replaced by a leaf
// Op::core_value.
Expression after_core(const Expression& tree);

}  // namespace tritonsmith::curriculum
