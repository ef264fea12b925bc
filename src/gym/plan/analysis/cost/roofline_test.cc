#include "gym/plan/analysis/cost/roofline.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr std::int64_t kSide = 512;
constexpr double kMatrix = 4.0 * kSide * kSide, kRow = 4.0 * kSide;  // bytes

// The work without its parts by type, which sum to the whole.
LeastWork in_all(const Plan& plan) {
  LeastWork work = least_work(plan);
  double sum = 0;
  for (const auto& [type, flops] : work.flops_by) sum += flops;
  EXPECT_EQ(sum, work.flops);
  work.flops_by.clear();
  return work;
}

// The task is forward(x, w) over random inputs of kSide x kSide.
class Roofline : public ::testing::Test {
 protected:
  Roofline() {
    for (const int tensor : {x, w})
      task.aten(Phase::inputs, "aten::randn", {ints({kSide, kSide})}, {tensor}).input(t(tensor));
  }
  int matrix() { return task.tensor({kSide, kSide}); }
  int then(const std::string& op, std::vector<Value> arguments) {
    const int made = matrix();
    task.aten(Phase::forward, op, std::move(arguments), {made});
    return made;
  }
  int row() { return task.tensor({kSide}); }
  int then_of_row(const std::string& op, std::vector<Value> arguments) {
    const int made = row();
    task.aten(Phase::forward, op, std::move(arguments), {made});
    return made;
  }
  int reduced(const std::string& op, int of) { return then_of_row(op, {t(of), ints({1})}); }
  static Value b(bool value) { return Value{value}; }
  LeastWork work_of(int output) {
    task.returns(t(output));
    return in_all(task.plan());
  }

  PlanBuilder task{PlanRole::task};
  const int x = matrix(), w = matrix();
};

TEST_F(Roofline, AnElementwiseTaskReadsItsInputsAndWritesItsOutput) {
  const int sum = then("aten::add.Tensor", {t(x), t(w)});
  EXPECT_EQ(work_of(then("aten::gelu", {t(sum)})), (LeastWork{.bytes = 3 * kMatrix, .flops = 0}));
}

TEST_F(Roofline, AProductOfRandomMatricesCostsItsMultiplications) {
  const int transposed = task.view(w, {kSide, kSide}, {1, kSide});
  task.aten(Phase::forward, "aten::t", {t(w)}, {transposed});
  const int product = then("aten::mm", {t(then("aten::relu", {t(x)})), t(transposed)});
  EXPECT_EQ(work_of(then("aten::tanh", {t(product)})),
            (LeastWork{.bytes = 3 * kMatrix, .flops = 2.0 * kSide * kSide * kSide}));
}

TEST_F(Roofline, ProductsAreCountedByTheirType) {
  task.returns(t(then("aten::mm", {t(x), t(w)})));
  const UnavoidableWork work = unavoidable(least_work(task.plan()));
  EXPECT_EQ(work.bytes, 3 * kMatrix);
  EXPECT_EQ(work.flops.at("float32"), 2.0 * kSide * kSide * kSide);
}

TEST_F(Roofline, AProductOfAProductMayBeTakenInAnotherOrder) {
  const int product = then("aten::mm", {t(x), t(w)});
  const int scaled = then("aten::mul.Tensor", {t(product), f(2)});
  EXPECT_EQ(work_of(then("aten::mm", {t(scaled), t(w)})), (LeastWork{.bytes = kMatrix}));
}

TEST_F(Roofline, BetweenTwoProductsANonlinearOperatorKeepsTheOrder) {
  const int bent = then("aten::relu", {t(then("aten::mm", {t(x), t(w)}))});
  EXPECT_EQ(work_of(then("aten::mm", {t(bent), t(w)})),
            (LeastWork{.bytes = 3 * kMatrix, .flops = 4.0 * kSide * kSide * kSide}));
}

TEST_F(Roofline, StructureThatAKernelMayUseIsNotCounted) {
  const int triangle = then("aten::tril", {t(x)});
  EXPECT_EQ(work_of(then("aten::mm", {t(triangle), t(w)})), (LeastWork{.bytes = kMatrix}));
}

TEST_F(Roofline, AnInputThatNothingNeedsIsFree) {
  EXPECT_EQ(work_of(then("aten::mul.Tensor", {t(x), i(0)})), (LeastWork{.bytes = kMatrix}));
  EXPECT_EQ(work_of(then("aten::sigmoid", {t(w)})), (LeastWork{.bytes = 2 * kMatrix}));
}

TEST_F(Roofline, AReductionReadsAllThatItReduces) {
  EXPECT_EQ(work_of(reduced("aten::sum.dim_IntList", x)), (LeastWork{.bytes = kMatrix + kRow}));
  EXPECT_EQ(work_of(then_of_row("aten::relu", {t(reduced("aten::amax", w))})),
            (LeastWork{.bytes = kMatrix + kRow}));
  const int both = then("aten::mul.Tensor", {t(x), t(w)});
  EXPECT_EQ(work_of(reduced("aten::mean.dim", both)), (LeastWork{.bytes = 2 * kMatrix + kRow}));
}

TEST_F(Roofline, WhereOnlyTheIndicesOfTheLargestAreAskedForAllIsReadToo) {
  const int values = row(), indices = task.tensor({kSide}, DType::int64);
  task.aten(Phase::forward, "aten::max.dim", {t(x), i(1)}, {values, indices});
  EXPECT_EQ(work_of(indices), (LeastWork{.bytes = kMatrix + 2 * kRow}));
}

TEST_F(Roofline, AReductionWithABiasReadsWhatItReduces) {
  const int bias = row();
  task.aten(Phase::inputs, "aten::randn", {ints({kSide})}, {bias}).input(t(bias));
  const int sum =
      then_of_row("aten::add.Tensor", {t(reduced("aten::sum.dim_IntList", x)), t(bias)});
  EXPECT_EQ(work_of(sum), (LeastWork{.bytes = kMatrix + 2 * kRow}));
}

TEST_F(Roofline, AReductionOfAReductionReadsAll) {
  const int rows = reduced("aten::sum.dim_IntList", x), total = task.tensor({});
  task.aten(Phase::forward, "aten::amax", {t(rows), ints({0})}, {total});
  EXPECT_EQ(work_of(total), (LeastWork{.bytes = kMatrix + 4}));
}

TEST_F(Roofline, ASumOfAProductMayBeTakenBefore) {
  const int product = then("aten::mm", {t(x), t(w)});
  EXPECT_EQ(work_of(reduced("aten::sum.dim_IntList", product)),
            (LeastWork{.bytes = 2 * kMatrix + kRow, .flops = 0}));
}

TEST_F(Roofline, ANormalisationReadsItsInput) {
  const LeastWork both{.bytes = 2 * kMatrix};
  EXPECT_EQ(work_of(then("aten::_softmax", {t(x), i(-1), b(false)})), both);
  EXPECT_EQ(work_of(then("aten::cumsum", {t(x), i(1)})), both);
  const int normed =
      then("aten::native_layer_norm", {t(x), ints({kSide}), Value{None{}}, Value{None{}}, f(1e-5)});
  EXPECT_EQ(work_of(then("aten::gelu", {t(normed)})), both);
  const int product = then("aten::mm", {t(x), t(w)});
  EXPECT_EQ(work_of(then("aten::_softmax", {t(product), i(1), b(false)})),
            (LeastWork{.bytes = 3 * kMatrix, .flops = 2.0 * kSide * kSide * kSide}));
}

TEST_F(Roofline, ANormWrittenOutReadsItsInput) {
  const int mean = reduced("aten::mean.dim", then("aten::pow.Tensor_Scalar", {t(x), i(2)}));
  const int size = then_of_row("aten::sqrt", {t(mean)});
  const int column = task.view(size, {kSide, 1}, {1, 1});
  task.aten(Phase::forward, "aten::unsqueeze", {t(size), i(1)}, {column});
  EXPECT_EQ(work_of(then("aten::div.Tensor", {t(x), t(column)})),
            (LeastWork{.bytes = 2 * kMatrix}));
}

TEST_F(Roofline, WhatMayCancelIsFree) {
  const LeastWork written{.bytes = kRow};
  const int transposed = task.view(x, {kSide, kSide}, {1, kSide});
  task.aten(Phase::forward, "aten::t", {t(x)}, {transposed});
  const int skew = then("aten::sub.Tensor", {t(x), t(transposed)});
  EXPECT_EQ(work_of(reduced("aten::sum.dim_IntList", skew)), written);
  const int shares = then("aten::_softmax", {t(x), i(1), b(false)});
  EXPECT_EQ(work_of(reduced("aten::sum.dim_IntList", shares)), written) << "they add up to one";
  const int off = then_of_row("aten::sub.Tensor",
                              {t(reduced("aten::mean.dim", x)), t(reduced("aten::mean.dim", x))});
  EXPECT_EQ(work_of(off), written);
  const int count = then_of_row("aten::linalg_vector_norm", {t(x), i(0), ints({1})});
  EXPECT_EQ(work_of(count), written) << "none of them is zero";
}

// KernelBench's level 2, problem 80, does this: a maximum less its own mean is zero.
TEST_F(Roofline, AReductionOfOneNumberEachIsFree) {
  const int most = task.tensor({kSide, 1}), mean = task.tensor({kSide, 1}),
            nothing = task.tensor({kSide, 1});
  task.aten(Phase::forward, "aten::amax", {t(x), ints({1}), b(true)}, {most})
      .aten(Phase::forward, "aten::mean.dim", {t(most), ints({1}), b(true)}, {mean})
      .aten(Phase::forward, "aten::sub.Tensor", {t(most), t(mean)}, {nothing});
  EXPECT_EQ(work_of(nothing), (LeastWork{.bytes = kRow}));
}

TEST_F(Roofline, ATensorThatShowsNumbersManyTimesCountsThemOnce) {
  const int windows = task.view(x, {kSide, kSide}, {1, 1});
  task.aten(Phase::forward, "aten::as_strided", {t(x)}, {windows});
  EXPECT_EQ(work_of(then("aten::relu", {t(windows)})), (LeastWork{.bytes = kMatrix + kRow}));
}

TEST_F(Roofline, APartOfAReductionIsFree) {
  const int rows = reduced("aten::sum.dim_IntList", x), first = task.view(rows, {1}, {1});
  task.aten(Phase::forward, "aten::slice.Tensor", {t(rows), i(0), i(0), i(1)}, {first});
  EXPECT_EQ(work_of(then_of_row("aten::neg", {t(first)})), (LeastWork{.bytes = kRow}));
}

TEST_F(Roofline, AWeightOfZerosLeavesNothing) {
  PlanBuilder other(PlanRole::task);
  const int in = other.tensor({kSide, kSide}), weight = other.tensor({kSide}),
            out = other.tensor({kSide, kSide});
  other.aten(Phase::init, "aten::zeros", {ints({kSide})}, {weight})
      .aten(Phase::inputs, "aten::randn", {ints({kSide, kSide})}, {in})
      .input(t(in))
      .aten(Phase::forward, "aten::native_layer_norm",
            {t(in), ints({kSide}), t(weight), Value{None{}}, f(1e-5)}, {out})
      .returns(t(out));
  EXPECT_EQ(in_all(other.plan()), (LeastWork{.bytes = kMatrix}));
}

TEST_F(Roofline, WorkInPlaceIsFollowedWhereItIsElementwiseAndWhole) {
  const int sum = then("aten::add.Tensor", {t(x), t(w)});
  task.aten(Phase::forward, "aten::relu_", {t(sum)}, {sum});
  EXPECT_EQ(work_of(then("aten::sigmoid", {t(sum)})), (LeastWork{.bytes = 3 * kMatrix}));
  task.aten(Phase::forward, "aten::mul_.Tensor", {t(sum), i(0)}, {sum});
  EXPECT_EQ(work_of(sum), (LeastWork{.bytes = kMatrix})) << "what it was before is gone";
}

TEST_F(Roofline, AfterAPartIsWrittenNothingIsKnown) {
  const int sum = then("aten::add.Tensor", {t(x), t(w)}), half = task.view(sum, {kSide}, {1});
  task.aten(Phase::forward, "aten::select.int", {t(sum), i(0), i(0)}, {half})
      .aten(Phase::forward, "aten::relu_", {t(half)}, {half});
  EXPECT_EQ(work_of(sum), (LeastWork{.bytes = kMatrix}));
  const int copy = then("aten::add.Tensor", {t(x), t(w)});
  task.aten(Phase::forward, "aten::copy_", {t(copy), t(w)}, {copy});
  EXPECT_EQ(work_of(copy), (LeastWork{.bytes = kMatrix}));
}

TEST_F(Roofline, AnInputChangedInPlaceIsReadAsItWas) {
  task.aten(Phase::forward, "aten::relu_", {t(x)}, {x});
  EXPECT_EQ(work_of(then("aten::sigmoid", {t(x)})), (LeastWork{.bytes = 2 * kMatrix}));
}

TEST_F(Roofline, AnOutputThatIsAnInputCostsNothing) { EXPECT_EQ(work_of(x), LeastWork{}); }

// A convolution from 8 to 16 channels over 32 x 32 images. Each test sets the arguments
// that matter to it.
struct Convolving {
  std::int64_t taps = 3, stride = 1, padding = 1, dilation = 1, groups = 1;
  bool transposed = false;
  std::int64_t output_padding = 0;
};
struct Convolved {
  LeastWork work;
  double input = 0, weight = 0, output = 0;  // elements
};
Convolved convolve(const Convolving& how) {
  PlanBuilder task(PlanRole::task);
  constexpr std::int64_t batch = 2, side = 32, in = 8, out = 16;
  const std::int64_t reach = how.dilation * (how.taps - 1) + 1;
  const std::int64_t made =
      how.transposed ? (side - 1) * how.stride - 2 * how.padding + reach + how.output_padding
                     : (side + 2 * how.padding - reach) / how.stride + 1;
  const std::vector<std::int64_t> filters =
      how.transposed ? std::vector{in, out / how.groups, how.taps, how.taps}
                     : std::vector{out, in / how.groups, how.taps, how.taps};
  const int x = task.tensor({batch, in, side, side}), w = task.tensor(filters),
            b = task.tensor({out}), y = task.tensor({batch, out, made, made}),
            z = task.tensor({batch, out, made, made});
  for (const int tensor : {x, w, b})
    task.aten(Phase::inputs, "aten::randn", {ints({1})}, {tensor}).input(t(tensor));
  task.aten(Phase::forward, "aten::convolution",
            {t(x), t(w), t(b), ints({how.stride, how.stride}), ints({how.padding, how.padding}),
             ints({how.dilation, how.dilation}), Value{how.transposed},
             ints({how.output_padding, how.output_padding}), i(how.groups)},
            {y})
      .aten(Phase::forward, "aten::relu", {t(y)}, {z})
      .returns(t(z));
  return {.work = in_all(task.plan()),
          .input = static_cast<double>(batch * in * side * side),
          .weight = static_cast<double>(out * in / how.groups * how.taps * how.taps),
          .output = static_cast<double>(batch * out * made * made)};
}

TEST(RooflineOfConvolutions, OneOfATapIsAProduct) {
  const Convolved one = convolve({.taps = 1, .padding = 0});
  EXPECT_EQ(one.work, (LeastWork{.bytes = 4 * (one.input + one.weight + one.output),
                                 .flops = 2 * one.output * 8}));
}

TEST(RooflineOfConvolutions, TapsAreFreeAndGroupsNeedTheirOwnChannels) {
  const Convolved three = convolve({}), grouped = convolve({.groups = 4});
  EXPECT_EQ(three.work, (LeastWork{.bytes = 4 * (three.input + three.weight + three.output),
                                   .flops = 2 * three.output * 8}));
  EXPECT_EQ(grouped.work.flops, 2 * grouped.output * 2);
}

TEST(RooflineOfConvolutions, WhatNoWindowSeesNeedNotBeRead) {
  const Convolved strided = convolve({.taps = 1, .stride = 2, .padding = 0});
  EXPECT_EQ(strided.work.bytes, 4 * (strided.weight + strided.output));
  EXPECT_EQ(strided.work.flops, 2 * strided.output * 8);
  const Convolved dilated = convolve({.padding = 0, .dilation = 2});
  EXPECT_EQ(dilated.work.bytes, 4 * (dilated.weight + dilated.output));
  const Convolved overhanging = convolve({.taps = 3, .stride = 3, .padding = 0});
  EXPECT_EQ(overhanging.work.bytes, 4 * (overhanging.weight + overhanging.output))
      << "the last rows are beyond its windows";
}

TEST(RooflineOfConvolutions, OutputsOfTheBiasAloneAreFree) {
  for (const Convolving& how :
       {Convolving{.taps = 1, .padding = 1}, Convolving{.padding = 2, .dilation = 2},
        Convolving{.taps = 2, .stride = 3, .padding = 0, .transposed = true},
        Convolving{.stride = 2, .padding = 0, .transposed = true, .output_padding = 1}}) {
    const Convolved made = convolve(how);
    EXPECT_EQ(made.work, (LeastWork{.bytes = 4 * made.output}));
  }
}

TEST(RooflineOfConvolutions, ATransposedOneTakesAProductForEachInput) {
  const Convolved made = convolve({.stride = 2, .padding = 0, .transposed = true});
  EXPECT_EQ(made.work, (LeastWork{.bytes = 4 * (made.input + made.weight + made.output),
                                  .flops = 2 * made.input * 16}));
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
