#include "gym/compare/compare.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace tritonsmith::gym::compare {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::string compare(const at::Tensor& candidate, const at::Tensor& reference,
                    const at::Tensor& oracle = {}, Comparison rule = Comparison::budget,
                    Strides strides = Strides::any) {
  Numerics numerics;
  const CompareOptions how{
      .rule = rule, .strides = strides, .tolerance = tolerance_of(reference.scalar_type())};
  const auto error = compare_tensors("output", candidate, reference, oracle, how, numerics);
  return error ? class_name(*error) : "equal";
}

at::Tensor float_tensor(std::vector<double> values) {
  return at::tensor(values, at::dtype(at::kFloat));
}

TEST(CompareTensors, AllowsKernelBenchsToleranceAndNoMore) {
  EXPECT_EQ(compare(float_tensor({1.00019, 5}), float_tensor({1, 5})), "equal");
  EXPECT_EQ(compare(float_tensor({1.00021, 5}), float_tensor({1, 5})), "wrong_value");
  EXPECT_EQ(compare(float_tensor({1.019}).to(at::kHalf), float_tensor({1}).to(at::kHalf)), "equal");
}

TEST(CompareTensors, KnowsDoublesFromWhatWasSingleOnItsWay) {
  const at::Tensor exact = at::linspace(0, 3, 64, at::kDouble).cos();
  EXPECT_EQ(compare(exact * (1 + 1e-12), exact, exact), "equal");
  EXPECT_EQ(compare(exact.to(at::kFloat).to(at::kDouble), exact, exact), "wrong_value");
}

TEST(FilledElements, ANumberBeyondTheTypeFillsNothing) {
  const at::Tensor half = float_tensor({1.0, 512.0, -kInf}).to(at::kHalf);
  EXPECT_FALSE(filled_elements(half, {-1e9}).defined());
  EXPECT_TRUE(at::equal(filled_elements(half, {-1e9, 512}), at::tensor({0, 1, 0}).to(at::kBool)));
  EXPECT_TRUE(filled_elements(at::tensor({-1e9}, at::kFloat), {-1e9}).defined());
}

TEST(CompareTensors, WantsSpecialValuesInPlace) {
  EXPECT_EQ(compare(float_tensor({kNan, kInf, 1}), float_tensor({kNan, kInf, 1})), "equal");
  EXPECT_EQ(compare(float_tensor({kNan, kInf, 1}), float_tensor({kNan, -kInf, 1})), "wrong_value");
  EXPECT_EQ(compare(float_tensor({1, kNan}), float_tensor({kNan, 1})), "wrong_value");
  EXPECT_EQ(compare(float_tensor({kInf}), float_tensor({3e38})), "wrong_value");
}

TEST(CompareTensors, ComparesIntegersExactly) {
  const at::Tensor large = at::full({1}, (std::int64_t{1} << 60), at::kLong);
  EXPECT_EQ(compare(large, large), "equal");
  EXPECT_EQ(compare(large + 1, large), "wrong_value");
  EXPECT_EQ(compare(at::ones({2}, at::kBool), at::zeros({2}, at::kBool)), "wrong_value");
}

TEST(CompareTensors, HoldsSmallOutputsToTheirOwnScale) {
  const at::Tensor exact = at::full({8}, 1e-6, at::kDouble);
  const at::Tensor reference = exact.to(at::kFloat);
  // the plain tolerance alone accepts zeros
  EXPECT_EQ(compare(at::zeros({8}), reference), "equal");
  EXPECT_EQ(compare(at::zeros({8}), reference, exact), "wrong_value");
  EXPECT_EQ(compare(reference * (1 + 1e-5), reference, exact), "equal");
}

TEST(CompareTensors, LeavesOutOfTheBudgetWhatIsNoNumberOnBothSides) {
  at::Tensor exact = at::full({8}, 1e-6, at::kDouble);
  exact[3] = -kInf;
  exact[5] = kNan;
  const at::Tensor reference = exact.to(at::kFloat);
  at::Tensor zeros = reference * 0;  // 0 * NaN is NaN
  zeros[3] = -kInf;
  EXPECT_EQ(compare(zeros, reference), "equal");
  EXPECT_EQ(compare(zeros, reference, exact), "wrong_value");
  EXPECT_EQ(compare(reference * (1 + 1e-5), reference, exact), "equal");
  exact[0] = 1e300;  // PyTorch itself overflows
  at::Tensor overflowed = reference.clone();
  overflowed[0] = kInf;
  zeros[0] = kInf;
  EXPECT_EQ(compare(zeros, overflowed, exact), "equal");
}

TEST(CompareTensors, HasKernelBenchsToleranceAloneWhereItIsAskedFor) {
  const auto allclose = [](const at::Tensor& candidate, const at::Tensor& exact, auto dtype) {
    return compare(candidate.to(dtype), exact.to(dtype), exact, Comparison::allclose);
  };
  const at::Tensor tiny = at::full({8}, 1e-6, at::kDouble), one = at::ones({8}, at::kDouble);
  EXPECT_EQ(compare((tiny + 9e-5).to(at::kFloat), tiny.to(at::kFloat), tiny), "wrong_value");
  EXPECT_EQ(allclose(tiny + 9e-5, tiny, at::kFloat), "equal");
  EXPECT_EQ(allclose(tiny + 1.1e-4, tiny, at::kFloat), "wrong_value");
  EXPECT_EQ(allclose(one + 1.9e-4, one, at::kFloat), "equal");
  EXPECT_EQ(allclose(one + 2.1e-4, one, at::kFloat), "wrong_value");
  for (const auto half : {at::kHalf, at::kBFloat16}) {
    EXPECT_EQ(allclose(one + 0.015, one, half), "equal");
    EXPECT_EQ(allclose(one + 0.03, one, half), "wrong_value");
  }
  const at::Tensor truth = at::ones({2}, at::kBool), large = at::full({1}, 1 << 20, at::kInt);
  EXPECT_EQ(allclose(large + 1, large, at::kInt), "wrong_value");
  EXPECT_EQ(allclose(truth, truth, at::kBool), "equal");
  EXPECT_EQ(allclose(at::zeros({2}), truth, at::kBool), "wrong_value");
}

TEST(CompareTensors, ForgivesAFewRoundingsOfNumbersAroundOne) {
  // softplus, about 1.5e-8
  const at::Tensor exact = at::full({8}, -18.0, at::kDouble).exp().log1p();
  const at::Tensor naive = at::full({8}, -18.0, at::kFloat).exp().add(1).log();
  EXPECT_EQ(compare(naive, exact.to(at::kFloat), exact), "equal");
}

// cos(3 * sum(x)) depends on the last bits of the sum, so PyTorch itself has an error of that size.
TEST(CompareTensors, AllowsWhoIsAboutAsExactAsPyTorchWhereThatIsNotExact) {
  at::manual_seed(1);
  const at::Tensor exact = at::linspace(0, 3, 64, at::kDouble).cos();
  const at::Tensor noise = at::randn({64}, at::kDouble), other = at::randn({64}, at::kDouble);
  const at::Tensor one = at::zeros({64}, at::kDouble);
  one[33] = 1;  // where the cosine is 0
  const at::Tensor sign = at::arange(64, at::kDouble).remainder(2) * 2 - 1;
  const auto off = [&](const at::Tensor& by) { return (exact + by).to(at::kFloat); };
  const at::Tensor reference = off(5e-5 * noise), like = off(1.5e-4 * other);
  EXPECT_EQ(compare(like, reference), "wrong_value");
  EXPECT_EQ(compare(like, reference, exact), "equal");
  EXPECT_EQ(compare(like, reference, exact, Comparison::allclose), "wrong_value");
  EXPECT_EQ(compare(off(3.5e-4 * one), off(5e-5 * sign), exact), "equal");
  // fails by the worst error
  EXPECT_EQ(compare(off(1e-3 * one), off(5e-5 * sign), exact), "wrong_value");
  // fails by the average error
  EXPECT_EQ(compare(off(at::full({64}, 5e-4)), reference, exact), "wrong_value");
  EXPECT_EQ(compare(exact.to(at::kBFloat16).to(at::kFloat), reference, exact), "wrong_value");
  const at::Tensor wild = off(0.1 * noise);  // the limit is a hundred times the tolerance
  EXPECT_EQ(compare(off(at::full({64}, 0.005)), wild, exact), "equal");
  EXPECT_EQ(compare(off(at::full({64}, 0.03)), wild, exact), "wrong_value");
  const at::Tensor half = (exact + 0.03 * sign).to(at::kHalf);
  EXPECT_EQ(compare((exact - 0.04).to(at::kHalf), half, exact), "wrong_value");
}

// The rounding of an output to 16 bits does not remove the budget.
TEST(CompareTensors, HasABudgetIn16Bits) {
  at::manual_seed(1);
  const at::Tensor exact = at::softmax(at::rand({8, 4096}, at::kDouble), -1);
  for (const auto half : {at::kHalf, at::kBFloat16}) {
    const at::Tensor reference = exact.to(half);
    EXPECT_EQ(compare(at::zeros_like(reference), reference), "equal") << "within 1e-2";
    EXPECT_EQ(compare(at::zeros_like(reference), reference, exact), "wrong_value");
    EXPECT_EQ(compare((exact * 1.02).to(half), reference, exact), "equal");
  }
}

// PyTorch rounds between operators, and one kernel need not do so.
TEST(CompareTensors, AllowsWhoIsMoreExactThanPyTorchIn16Bits) {
  at::manual_seed(1);
  const at::Tensor x = (2 * at::randn({4096})).to(at::kBFloat16);
  const at::Tensor reference = (x * 0.5 + 1).exp() - 1;
  const at::Tensor wide = x.to(at::kDouble), exact = (wide * 0.5 + 1).exp() - 1;
  const at::Tensor fused = exact.to(at::kBFloat16);
  EXPECT_EQ(compare(fused, reference), "wrong_value");
  EXPECT_EQ(compare(fused, reference, exact), "equal");
  EXPECT_EQ(compare((exact * 1.05).to(at::kBFloat16), reference, exact), "wrong_value");
}

CompareOptions tightened_to(double value, c10::ScalarType widest) {
  return {.tolerance = tightened(tolerance_of(widest), value)};
}

// PyTorch's own rounding to bf16 exceeds the usable share of float32. The rules of 16 bits still
// give a budget, and it refuses zeros.
TEST(CompareTensors, ATightenedToleranceKeepsTheBudgetOfItsDtype) {
  at::manual_seed(1);
  const at::Tensor exact = at::softmax(at::rand({8, 4096}, at::kDouble), -1);
  const at::Tensor reference = exact.to(at::kBFloat16), zeros = at::zeros_like(reference);
  CompareOptions how = tightened_to(5e-3, at::kBFloat16);
  Numerics ignored;
  EXPECT_TRUE(compare_tensors("y", zeros, reference, exact, how, ignored));
  how.tolerance.widest = Precision::bits_32;
  EXPECT_FALSE(compare_tensors("y", zeros, reference, exact, how, ignored));
}

// A float32 output of a task in fp16 has the noise of fp16, however small the task's tolerance is.
TEST(CompareTensors, ATightenedToleranceGivesNoOtherDtypesExtension) {
  const at::Tensor exact = at::linspace(0, 3, 64, at::kDouble).cos();
  const at::Tensor sign = at::arange(64).remainder(2) * 2 - 1;
  const at::Tensor reference = (exact + 5e-5 * sign).to(at::kFloat);
  const at::Tensor like = (exact - 2e-4 * sign).to(at::kFloat);
  Numerics ignored;
  EXPECT_FALSE(
      compare_tensors("y", like, reference, exact, tightened_to(5e-5, at::kFloat), ignored));
  EXPECT_TRUE(compare_tensors("y", like, reference, exact, tightened_to(5e-5, at::kHalf), ignored));
}

TEST(CompareTensors, AllowsNothingMoreWhereTheReferenceIsNoResult) {
  const at::Tensor exact = at::linspace(0, 3, 64, at::kDouble).cos();
  at::Tensor reference = exact.to(at::kFloat);
  const at::Tensor like = (exact + 5e-3).to(at::kFloat);
  reference[7] = kInf;  // PyTorch overflows, and float64 does not
  EXPECT_EQ(compare(like, reference, exact), "wrong_value");
  EXPECT_EQ(compare(like, (-exact).to(at::kFloat), exact), "wrong_value");
}

// The large rounding error of one large element does not widen the limit of all others.
TEST(CompareTensors, AllowsNothingMoreWhereOnlyLargeElementsAreRoundedCoarsely) {
  at::manual_seed(1);
  const at::Tensor exact = (3 * at::randn({65'536}, at::kDouble)).exp();
  const at::Tensor reference = exact.to(at::kFloat);
  const at::Tensor zeroed = at::where(reference < 0.1, 0.0, reference).to(at::kFloat);
  EXPECT_GT((reference.to(at::kDouble) - exact).abs().max().item<double>(), 1e-4);
  EXPECT_EQ(compare(zeroed, reference, exact), "wrong_value");
  EXPECT_EQ(compare(reference * (1 + 1e-6), reference, exact), "equal");
}

TEST(CompareTensors, WhatATrialAllowedHoldsForWhatIsHeldAgainstItsReferenceAgain) {
  const at::Tensor reference = at::ones({8}), off = at::full({8}, 1.001);
  Numerics numerics;
  EXPECT_TRUE(
      compare_tensors("output", off, reference, {}, {.tolerance_extension = 4e-4}, numerics));
  EXPECT_FALSE(
      compare_tensors("output", off, reference, {}, {.tolerance_extension = 6e-4}, numerics));
}

TEST(CompareTensors, HasNoBudgetWhereTheReferenceItselfIsNoise) {
  const at::Tensor exact = at::full({8}, 1e-17, at::kDouble);
  const at::Tensor noise = at::full({8}, 1e-9, at::kFloat);
  EXPECT_EQ(compare(noise * -3, noise, exact), "equal");
}

TEST(CompareTensors, ComparesComplexNumbersByTheirParts) {
  const at::Tensor a = at::complex(float_tensor({1, 2}), float_tensor({3, 4}));
  EXPECT_EQ(compare(a, a), "equal");
  EXPECT_EQ(compare(a, at::conj(a)), "wrong_value");
}

// The comparison reads doubles without a conversion, so it must resolve the negation itself.
TEST(CompareTensors, ReadsWhatIsNegatedWhenItIsRead) {
  const at::Tensor ones = at::ones({4}, at::kDouble);
  Numerics ignored;
  EXPECT_TRUE(compare_tensors("y", at::_neg_view(ones), ones, {}, {}, ignored));
  EXPECT_FALSE(compare_tensors("y", at::_neg_view(-ones), ones, {}, {}, ignored));
}

TEST(OwnError, LeavesOutWhatIsNoNumberInBoth) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const at::Tensor exact = at::tensor({1.0, 2.0, 3.0}),
                   masked = at::tensor({1.0F, 2.5F, -infinity}),
                   also = at::tensor({1.0F, 2.0F, -infinity});
  EXPECT_NEAR(own_error(masked, also), 0.5 / std::sqrt(2.5), 1e-6);
  EXPECT_NEAR(own_error_by_element(masked, also), 0.5 / (2 + std::sqrt(2.5)), 1e-6);
  EXPECT_FALSE(std::isfinite(own_error(masked, exact)));
  EXPECT_FALSE(std::isfinite(own_error_by_element(masked, exact)));
}

TEST(CompareTensors, ToleratesEmptyTensors) {
  EXPECT_EQ(compare(at::empty({0, 3}), at::empty({0, 3})), "equal");
}

TEST(CompareTensors, WantsAContiguousOutputWhereAJobAsksForIt) {
  const at::Tensor square = at::rand({3, 3}), transposed = square.t().contiguous().t();
  EXPECT_EQ(compare(transposed, square), "equal");
  EXPECT_EQ(compare(transposed, square, {}, Comparison::budget, Strides::contiguous),
            "wrong_strides");
  EXPECT_EQ(compare(square, transposed, {}, Comparison::budget, Strides::contiguous), "equal");
}

TEST(CompareTensors, RefusesElementsThatShareMemory) {
  const at::Tensor rows = at::ones({1, 3}).expand({4, 3});
  EXPECT_EQ(compare(rows, rows.contiguous()), "wrong_strides");
}

TEST(CompareTensors, TakesAnyLayoutWhereTheReferencesIsNotContiguous) {
  const at::Tensor reference = at::rand({4, 5, 6}).permute({2, 0, 1});
  EXPECT_EQ(compare(reference.clone(), reference), "equal");
  EXPECT_EQ(compare(reference.contiguous(), reference), "equal");
  EXPECT_EQ(compare(reference.transpose(0, 1).contiguous().transpose(0, 1), reference), "equal");
  const at::Tensor last = at::ones({4, 7, 5}).select(1, 6);
  EXPECT_EQ(compare(at::ones({4, 3, 5}).select(1, 2), last), "equal") << "of a shorter sequence";
  EXPECT_EQ(compare(at::ones({7, 4, 5}).select(0, 6), last), "equal");
}

TEST(CompareTensors, WantsMemoryForEachElementWhereTheReferenceHasIt) {
  const at::Tensor dense = at::ones({5, 4}).t(), shared = at::ones({1}).expand({4, 5}),
                   rows = at::ones({5}).expand({4, 5}),
                   windows = at::ones({8}).as_strided({4, 5}, {1, 1});
  for (const at::Tensor& sharing : {shared, rows, windows}) {
    EXPECT_EQ(compare(sharing, dense), "wrong_strides");
    EXPECT_EQ(compare(sharing, sharing), "equal");
    EXPECT_EQ(compare(dense, sharing), "equal");
  }
  EXPECT_EQ(compare(shared, rows), "wrong_strides");
  EXPECT_EQ(compare(rows.unsqueeze(0), rows.as_strided({1, 4, 5}, {3, 0, 1})), "equal")
      << "a dimension of one element may have any stride";
}

}  // namespace
}  // namespace tritonsmith::gym::compare
