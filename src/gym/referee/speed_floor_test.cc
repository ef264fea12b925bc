#include "gym/referee/speed_floor.h"

#include <gtest/gtest.h>

#include "gym/referee/testing/plan_builder.h"

namespace tritonsmith::gym {
namespace {

constexpr std::int64_t n = 512;
constexpr double kMatrix = 4.0 * n * n;  // bytes

// forward(x, w) over random inputs of n x n.
class SpeedFloor : public ::testing::Test {
 protected:
  SpeedFloor() {
    for (const int tensor : {x, w})
      task.aten(Phase::inputs, "aten::randn", {ints({n, n})}, {tensor}).input(t(tensor));
  }
  int matrix() { return task.tensor({n, n}); }
  int then(const std::string& op, std::vector<Value> arguments) {
    const int made = matrix();
    task.aten(Phase::forward, op, std::move(arguments), {made});
    return made;
  }
  LeastWork work_of(int output) {
    task.returns(t(output));
    return least_work(task.plan());
  }

  PlanBuilder task{PlanRole::task};
  const int x = matrix(), w = matrix();
};

TEST_F(SpeedFloor, AnElementwiseTaskReadsItsInputsAndWritesItsOutput) {
  const int sum = then("aten::add.Tensor", {t(x), t(w)});
  EXPECT_EQ(work_of(then("aten::gelu", {t(sum)})), (LeastWork{.bytes = 3 * kMatrix, .flops = 0}));
}

TEST_F(SpeedFloor, AProductOfRandomMatricesCostsItsMultiplications) {
  const int turned = task.view(w, {n, n}, {1, n});
  task.aten(Phase::forward, "aten::t", {t(w)}, {turned});
  const int product = then("aten::mm", {t(then("aten::relu", {t(x)})), t(turned)});
  EXPECT_EQ(work_of(then("aten::tanh", {t(product)})),
            (LeastWork{.bytes = 3 * kMatrix, .flops = 2.0 * n * n * n}));
}

TEST_F(SpeedFloor, StructureThatAKernelMayUseIsNotCounted) {
  const int triangle = then("aten::tril", {t(x)});
  EXPECT_EQ(work_of(then("aten::mm", {t(triangle), t(w)})), (LeastWork{.bytes = kMatrix}));
}

TEST_F(SpeedFloor, AnInputThatNothingNeedsIsFree) {
  EXPECT_EQ(work_of(then("aten::mul.Tensor", {t(x), i(0)})), (LeastWork{.bytes = kMatrix}));
  EXPECT_EQ(work_of(then("aten::sigmoid", {t(w)})), (LeastWork{.bytes = 2 * kMatrix}));
}

TEST_F(SpeedFloor, ASumNeedsAllThatItAddsYetOnlyItsOutputIsCounted) {
  const int total = task.tensor({n});
  task.aten(Phase::forward, "aten::sum.dim_IntList", {t(x), ints({1})}, {total});
  EXPECT_EQ(work_of(total), (LeastWork{.bytes = 4.0 * n}));
}

TEST_F(SpeedFloor, WorkInPlaceIsNotFollowed) {
  task.aten(Phase::forward, "aten::relu_", {t(x)}, {x});
  EXPECT_EQ(work_of(then("aten::sigmoid", {t(x)})), (LeastWork{.bytes = kMatrix}));
}

TEST_F(SpeedFloor, AnOutputThatIsAnInputCostsNothing) { EXPECT_EQ(work_of(x), LeastWork{}); }

TEST(FindImpossibleSpeed, RefusesWhatTheChipCannotDo) {
  const gpu::GpuFacts chip{
      .cache_bytes = 1'000'000, .bytes_per_second = 1e12, .flops_per_second = 1e15};
  const LeastWork copy{.bytes = 101e6}, product{.bytes = 0, .flops = 2e12};
  EXPECT_FALSE(find_impossible_speed(copy, chip, 0.11));
  EXPECT_EQ(find_impossible_speed(copy, chip, 0.09)->rule, "faster_than_memory");
  EXPECT_FALSE(find_impossible_speed(product, chip, 1.1));
  EXPECT_EQ(find_impossible_speed(product, chip, 0.9)->rule, "faster_than_arithmetic");
  EXPECT_FALSE(find_impossible_speed(product, {}, 0.0)) << "nothing is known of the chip";
}

}  // namespace
}  // namespace tritonsmith::gym
