#include "curriculum/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curriculum/listing.h"

namespace tritonsmith::curriculum {
namespace {

Expression relu(Expression x) { return apply(Op::relu, {}, {std::move(x)}); }
Expression binary(Op op, Expression x, Expression y) {
  return apply(op, {}, {std::move(x), std::move(y)});
}
Expression add_constant(Expression x, double c) {
  return apply(Op::add_constant, {c}, {std::move(x)});
}

TEST(CanonicalForm, IgnoresConstants) {
  EXPECT_EQ(canonical_form(add_constant(relu(leaf(0)), 0.5)),
            canonical_form(add_constant(relu(leaf(0)), 2.0)));
  EXPECT_EQ(canonical_form(apply(Op::mul_constant, {2.0}, {leaf(0)})),
            canonical_form(apply(Op::div_constant, {3.0}, {leaf(0)})));
}

TEST(CanonicalForm, IgnoresTheOrderOfOperandsThatCommute) {
  EXPECT_EQ(canonical_form(binary(Op::mul, relu(leaf(0)), leaf(1))),
            canonical_form(binary(Op::mul, leaf(0), relu(leaf(1)))));
  EXPECT_EQ(
      canonical_form(binary(Op::maximum, binary(Op::maximum, relu(leaf(0)), leaf(1)), leaf(2))),
      canonical_form(binary(Op::maximum, leaf(0), binary(Op::maximum, leaf(1), relu(leaf(2))))));
}

TEST(CanonicalForm, FlattensSumsWithTheirConstants) {
  const Expression one = add_constant(binary(Op::add, leaf(0), leaf(1)), 1.0);
  const Expression other = binary(Op::add, add_constant(add_constant(leaf(0), 2.0), 3.0), leaf(1));
  EXPECT_EQ(canonical_form(one), canonical_form(other));
}

TEST(CanonicalForm, TellsOrderAndRepeatedInputsApart) {
  const Expression square_then_relu = relu(apply(Op::sin, {}, {leaf(0)}));
  const Expression relu_then_square = apply(Op::sin, {}, {relu(leaf(0))});
  EXPECT_NE(canonical_form(square_then_relu), canonical_form(relu_then_square));
  EXPECT_NE(canonical_form(binary(Op::sub, leaf(0), leaf(1))),
            canonical_form(binary(Op::sub, leaf(0), leaf(0))));
}

TEST(WithoutOneOperator, GivesEveryTreeOneSmaller) {
  const Expression tree = relu(binary(Op::mul, leaf(0), apply(Op::sigmoid, {}, {leaf(1)})));
  std::vector<std::string> forms;
  for (const Expression& each : without_one_operator(tree)) {
    EXPECT_EQ(operator_count(each), 2);
    forms.push_back(canonical_form(each));
  }
  EXPECT_THAT(forms, testing::UnorderedElementsAre("mul(sigmoid(a),b)", "relu(sigmoid(a))",
                                                   "relu(mul(a,b))"));
}

TEST(Listing, ReusesVariablesThatAreNoLongerNeeded) {
  // x * sigmoid(x), then + y.
  const Expression tree =
      binary(Op::add, binary(Op::mul, leaf(0), apply(Op::sigmoid, {}, {leaf(0)})), leaf(1));
  const Listing listing = list_operators(tree, {"x", "y"}, "");
  std::vector<std::string> lines;
  for (const Line& line : listing.lines)
    lines.push_back(line.target + " = " + fill_in("{x}", line));
  EXPECT_THAT(lines, testing::ElementsAre("t = x", "x = x", "x = x"));
  EXPECT_EQ(listing.result, "x");
}

TEST(Listing, NeverAssignsToWeights) {
  const Listing listing =
      list_operators(binary(Op::mul, leaf(0), relu(leaf(1))), {"x", "self.weight"}, "");
  EXPECT_EQ(listing.lines[0].target, "t");
}

}  // namespace
}  // namespace tritonsmith::curriculum
