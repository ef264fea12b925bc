#include "gym/referee/replay.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gym/referee/eval_mode.h"
#include "gym/referee/replay_memory.h"
#include "gym/referee/testing/fake_executor.h"
#include "gym/referee/testing/plan_builder.h"

namespace tritonsmith::gym {
namespace {

struct ReplayTest : ::testing::Test {
  ReplayTest() { ReplayMemory::instance().begin(Filler::nan, 64 << 20); }
  ~ReplayTest() override { ReplayMemory::instance().end(); }
  FakeExecutor executor;
};

TEST_F(ReplayTest, RunsAnOperatorWithDefaultsAndANumberForATensor) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({4});
  const int y = builder.tensor({4});
  builder.input(t(x)).aten(Phase::forward, "aten::add.Tensor", {t(x), f(2.5)}, {y}).returns(t(y));
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::ones({4}));
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_TRUE(at::equal(replay.tensors()[1], at::full({4}, 3.5)));
}

TEST_F(ReplayTest, AnOperatorWritesIntoWhatItIsGiven) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({4}), buffer = builder.tensor({4}),
            written = builder.view(buffer, {4}, {1});
  builder.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {buffer})
      .aten(Phase::forward, "aten::sigmoid.out", {t(x)}, {written}, {{"out", t(buffer)}})
      .returns(t(buffer));
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::zeros({4}));
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_TRUE(at::equal(replay.tensors()[1], at::full({4}, 0.5)));
  EXPECT_TRUE(replay.tensors()[1].is_alias_of(replay.tensors()[2]));
}

TEST_F(ReplayTest, RewritesDevicesAndTypesOfAFactory) {
  PlanBuilder builder(PlanRole::candidate);
  const int y = builder.tensor({2, 3}, DType::float16);
  builder.aten(Phase::forward, "aten::full", {ints({2, 3}), f(1)}, {y},
               {{"dtype", Value{DType::float16}}, {"device", Value{DeviceKind::cuda}}});
  Replay replay(builder.plan(), executor, {});
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_EQ(replay.tensors()[0].scalar_type(), at::kHalf);
}

TEST_F(ReplayTest, FillsFreshMemorySoThatUnwrittenElementsShow) {
  PlanBuilder builder(PlanRole::candidate);
  const int y = builder.tensor({8});
  builder.aten(Phase::forward, "aten::empty.memory_format", {ints({8})}, {y});
  Replay replay(builder.plan(), executor, {});
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_TRUE(replay.tensors()[0].isnan().all().item<bool>());
  EXPECT_TRUE(holds_filler(replay.tensors()[0], 7, Filler::nan));
}

TEST_F(ReplayTest, HandsAKernelTheWholeStorageAndItsOffset) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({8});
  const int tail = builder.view(x, {4}, {1}, 4);
  const int kernel = builder.kernel("k", {"*fp32"});
  builder.input(t(x))
      .aten(Phase::forward, "aten::slice.Tensor", {t(x), i(0), i(4), i(8)}, {tail})
      .launch(kernel, {t(tail)});
  KernelBuffer seen;
  executor.define("k", [&](std::span<const KernelArgument> arguments) {
    seen = std::get<KernelBuffer>(arguments[0]);
    floats(arguments[0])[0] = 7;
    return LaunchOutcome{.stored = {0}};
  });
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::zeros({8}));
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_EQ(seen.storage_bytes, 32U);
  EXPECT_EQ(seen.offset_bytes, 16U);
  EXPECT_EQ(replay.tensors()[0][4].item<float>(), 7);
  EXPECT_EQ(replay.launches().at(1).stored_tensors, std::vector<int>{tail});
}

TEST_F(ReplayTest, StopsAtAnOperatorItDoesNotReplayAndBlamesNobody) {
  PlanBuilder builder(PlanRole::candidate);
  const int y = builder.tensor({4});
  builder.aten(Phase::forward, "aten::from_file", {Value{std::string("/etc/passwd")}}, {y});
  Replay replay(builder.plan(), executor, {});
  const auto stop = replay.run(Phase::forward);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->error.error_class, "not_evaluable");
  EXPECT_EQ(stop->error.line, 10);
  EXPECT_EQ(stop->fault, Fault::none);
}

TEST_F(ReplayTest, TurnsWhatTheOperatorRefusesIntoTheCandidatesError) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({2, 3});
  const int y = builder.tensor({2, 2});
  builder.input(t(x)).aten(Phase::forward, "aten::mm", {t(x), t(x)}, {y});
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::zeros({2, 3}));
  const auto stop = replay.run(Phase::forward);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->error.error_class, "exception");
  EXPECT_EQ(stop->fault, Fault::candidate);
}

TEST_F(ReplayTest, RefusesAPlanThatDeclaresLessThanItAllocates) {
  PlanBuilder builder(PlanRole::candidate);
  const int y = builder.tensor({4});
  builder.aten(Phase::forward, "aten::empty.memory_format", {ints({1 << 30, 1 << 10})}, {y});
  Replay replay(builder.plan(), executor, {});
  EXPECT_EQ(replay.run(Phase::forward)->error.error_class, "too_large_to_evaluate");
}

TEST_F(ReplayTest, GivesAnOperatorsResultItsDeclaredStrides) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({2, 3});
  const int y = builder.tensor({2, 3});
  builder.plan().tensors[1].stride = {1, 2};
  builder.input(t(x)).aten(Phase::forward, "aten::relu", {t(x)}, {y});
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::ones({2, 3}));
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_EQ(replay.tensors()[1].stride(1), 2);
}

TEST_F(ReplayTest, DrawsTheSameValuesFromTheSameSeedOnly) {
  PlanBuilder builder(PlanRole::task);
  const int x = builder.tensor({16});
  builder.aten(Phase::inputs, "aten::randn", {ints({16})}, {x},
               {{"device", Value{DeviceKind::cuda}}});
  const auto draw = [&](std::uint64_t seed) {
    Replay replay(builder.plan(), executor, {});
    cpu_place().seed(seed);
    EXPECT_FALSE(replay.run(Phase::inputs));
    return replay.tensors()[0];
  };
  EXPECT_TRUE(at::equal(draw(1), draw(1)));
  EXPECT_FALSE(at::equal(draw(1), draw(2)));
}

TEST_F(ReplayTest, MakesAllFloatingFactoriesDoubleForTheOracle) {
  PlanBuilder builder(PlanRole::task);
  const int x = builder.tensor({2}, DType::float16);
  builder.aten(Phase::forward, "aten::zeros", {ints({2})}, {x}, {{"dtype", Value{DType::float16}}});
  Replay replay(builder.plan(), executor, {.precision = Precision::float64});
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_EQ(replay.tensors()[0].scalar_type(), at::kDouble);
}

// Each memory once, and none that was there before.
TEST_F(ReplayTest, TellsWhatForwardMadeAnew) {
  PlanBuilder plan(PlanRole::candidate);
  const int x = plan.tensor({4}), view = plan.view(x, {2, 2}, {2, 1});
  const int y = plan.tensor({2, 2}), same = plan.view(y, {2, 2}, {2, 1}), sum = plan.tensor({2, 2}),
            noise = plan.tensor({4});
  plan.input(t(x))
      .aten(Phase::forward, "aten::view", {t(x), ints({2, 2})}, {view})
      .aten(Phase::forward, "aten::relu", {t(view)}, {y})
      .aten(Phase::forward, "aten::add_.Tensor", {t(y), t(view)}, {same})
      .aten(Phase::forward, "aten::add.Tensor", {t(same), t(view)}, {sum})
      .aten(Phase::forward, "aten::relu_", {t(x)}, {x})
      .aten(Phase::forward, "aten::rand", {ints({4})}, {noise})
      .returns(t(sum));
  const Plan given = with_draws_first(plan.plan());
  FakeExecutor none;
  Replay replay(given, none, {});
  replay.bind(x, at::ones({4}));
  ASSERT_FALSE(replay.run(Phase::forward));
  EXPECT_EQ(made_by_forward(plan.plan(), replay.tensors()), (std::vector<int>{y, sum}));
  EXPECT_EQ(made_by_forward(given, replay.tensors()), (std::vector<int>{y, sum}));
  ASSERT_FALSE(replay.draw_again());
  EXPECT_EQ(made_by_forward(given, replay.tensors()), (std::vector<int>{y, sum, noise}));
  const at::Tensor drawn = tensor_at(replay.tensors(), noise);
  ASSERT_FALSE(replay.draw_again());
  EXPECT_TRUE(at::equal(tensor_at(replay.tensors(), noise), drawn));
  EXPECT_NE(tensor_at(replay.tensors(), noise).const_data_ptr(), drawn.const_data_ptr());
  replay.seed_draws(1);
  ASSERT_FALSE(replay.draw_again());
  EXPECT_FALSE(at::equal(tensor_at(replay.tensors(), noise), drawn));
  TensorTable more = replay.tensors();
  more.push_back(at::ones({1}));  // what a shell answered
  EXPECT_EQ(made_by_forward(given, more), (std::vector<int>{y, sum, noise, 6}));
}

// Who looks whether an input was changed looks at its memory.
TEST_F(ReplayTest, AnInputIsNotMadeAnew) {
  for (const std::string op : {"aten::relu", "aten::relu_"}) {
    PlanBuilder plan(PlanRole::candidate);
    const int x = plan.tensor({4});
    plan.input(t(x)).aten(Phase::forward, op, {t(x)}, {x}).returns(t(x));
    FakeExecutor none;
    Replay replay(plan.plan(), none, {});
    replay.bind(x, at::ones({4}));
    const auto stop = replay.run(Phase::forward);
    EXPECT_EQ(stop.has_value(), op == "aten::relu");
  }
}

TEST_F(ReplayTest, NoKernelIsGivenWhatIsNegatedOnlyWhenItIsRead) {
  PlanBuilder plan(PlanRole::candidate);
  const int x = plan.tensor({4}), y = plan.tensor({4});
  const int kernel = plan.kernel("k", {"*fp32"});
  plan.input(t(x))
      .aten(Phase::forward, "aten::_neg_view", {t(x)}, {y})
      .launch(kernel, {t(y)})
      .returns(t(y));
  FakeExecutor negating;
  negating.define("k", [](auto) { return LaunchOutcome{}; });
  Replay replay(plan.plan(), negating, {});
  replay.bind(x, at::ones({4}));
  const auto stop = replay.run(Phase::forward);
  ASSERT_TRUE(stop);
  EXPECT_NE(stop->error.message.find("resolve_neg"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::gym
