#include "gym/replay/replay.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gym/language/testing/fake_executor.h"
#include "gym/plan/analysis/eval_mode.h"
#include "gym/plan/testing/plan_builder.h"
#include "gym/tensors/replay_memory.h"

namespace tritonsmith::gym::replay {
namespace {

struct ReplayTest : ::testing::Test {
  ReplayTest() { tensors::ReplayMemory::instance().begin(tensors::Filler::nan, 64 << 20); }
  ~ReplayTest() override { tensors::ReplayMemory::instance().end(); }
  language::FakeExecutor executor;
};

TEST_F(ReplayTest, RunsAnOperatorWithDefaultsAndANumberForATensor) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int x = builder.tensor({4});
  const int y = builder.tensor({4});
  builder.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(x), plan::f(2.5)}, {y})
      .returns(plan::t(y));
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::ones({4}));
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_TRUE(at::equal(replay.tensors()[1], at::full({4}, 3.5)));
}

TEST_F(ReplayTest, AnOperatorWritesIntoWhatItIsGiven) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int x = builder.tensor({4}), buffer = builder.tensor({4}),
            written = builder.view(buffer, {4}, {1});
  builder.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {buffer})
      .aten(plan::Phase::forward, "aten::sigmoid.out", {plan::t(x)}, {written},
            {{"out", plan::t(buffer)}})
      .returns(plan::t(buffer));
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::zeros({4}));
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_TRUE(at::equal(replay.tensors()[1], at::full({4}, 0.5)));
  EXPECT_TRUE(replay.tensors()[1].is_alias_of(replay.tensors()[2]));
}

TEST_F(ReplayTest, RewritesDevicesAndTypesOfAFactory) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int y = builder.tensor({2, 3}, plan::DType::float16);
  builder.aten(plan::Phase::forward, "aten::full", {plan::ints({2, 3}), plan::f(1)}, {y},
               {{"dtype", plan::Value{plan::DType::float16}},
                {"device", plan::Value{plan::DeviceKind::cuda}}});
  Replay replay(builder.plan(), executor, {});
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_EQ(replay.tensors()[0].scalar_type(), at::kHalf);
}

// y = (x.view(int32) & -65536).view(float32), which cuts x to its upper 16 bits.
struct CutNumbers {
  CutNumbers() {
    const plan::Value int32{plan::DType::int32}, float32{plan::DType::float32};
    builder.input(plan::t(x))
        .aten(plan::Phase::forward, "aten::view.dtype", {plan::t(x), int32}, {bits})
        .aten(plan::Phase::forward, "aten::bitwise_and.Scalar", {plan::t(bits), plan::i(-65536)},
              {cut})
        .aten(plan::Phase::forward, "aten::view.dtype", {plan::t(cut), float32}, {y})
        .returns(plan::t(y));
  }
  plan::PlanBuilder builder{plan::PlanRole::task};
  const int x = builder.tensor({5});
  const int bits = builder.tensor({5}, plan::DType::int32);
  const int cut = builder.tensor({5}, plan::DType::int32);
  const int y = builder.tensor({5});
};

TEST_F(ReplayTest, InFloat64AViewOfBitsSeesThoseOfItsOwnDtype) {
  const CutNumbers task;
  const at::Tensor x = at::randn({5});
  Replay narrow(task.builder.plan(), executor, {}),
      wide(task.builder.plan(), executor, {.precision = Precision::float64});
  narrow.bind(task.x, x);
  wide.bind(task.x, x.to(at::kDouble));
  ASSERT_FALSE(narrow.run(plan::Phase::forward));
  ASSERT_FALSE(wide.run(plan::Phase::forward));
  EXPECT_EQ(wide.tensors()[task.y].scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(wide.tensors()[task.y], narrow.tensors()[task.y].to(at::kDouble)));
  EXPECT_FALSE(at::equal(narrow.tensors()[task.y], x));
}

// The nearest float32 to 0.1 is larger than 0.1 in float64.
TEST_F(ReplayTest, InFloat64AnInputIsComparedWithTheNumberThatPyTorchRounds) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({2}), above = task.tensor({2}, plan::DType::boolean);
  task.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::gt.Scalar", {plan::t(x), plan::f(0.1)}, {above});
  const at::Tensor numbers = at::full({2}, 0.1, at::kFloat);
  for (const Precision precision : {Precision::as_written, Precision::float64}) {
    Replay replay(task.plan(), executor, {.precision = precision});
    replay.bind(x, precision == Precision::float64 ? numbers.to(at::kDouble) : numbers);
    ASSERT_FALSE(replay.run(plan::Phase::forward));
    EXPECT_FALSE(replay.tensors()[above].any().item<bool>());
  }
}

TEST_F(ReplayTest, InFloat64NothingMayChangeNumbersWhoseBitsAViewShares) {
  CutNumbers task;
  task.builder.aten(plan::Phase::forward, "aten::bitwise_or_.Scalar",
                    {plan::t(task.bits), plan::i(1)}, {task.bits});
  const auto stop_of = [&](Precision precision) {
    Replay replay(task.builder.plan(), executor, {.precision = precision});
    replay.bind(task.x, at::ones({5}, precision == Precision::float64 ? at::kDouble : at::kFloat));
    return replay.run(plan::Phase::forward);
  };
  EXPECT_FALSE(stop_of(Precision::as_written));
  const auto stop = stop_of(Precision::float64);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->error.error_class, ErrorClass::not_evaluable);
}

TEST_F(ReplayTest, FillsFreshMemorySoThatUnwrittenElementsShow) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int y = builder.tensor({8});
  builder.aten(plan::Phase::forward, "aten::empty.memory_format", {plan::ints({8})}, {y});
  Replay replay(builder.plan(), executor, {});
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_TRUE(replay.tensors()[0].isnan().all().item<bool>());
  EXPECT_TRUE(tensors::holds_filler(replay.tensors()[0], 7, tensors::Filler::nan));
}

TEST_F(ReplayTest, HandsAKernelTheWholeStorageAndItsOffset) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int x = builder.tensor({8});
  const int tail = builder.view(x, {4}, {1}, 4);
  const int kernel = builder.kernel("k", {"*fp32"});
  builder.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::slice.Tensor",
            {plan::t(x), plan::i(0), plan::i(4), plan::i(8)}, {tail})
      .launch(kernel, {plan::t(tail)});
  language::KernelBuffer seen;
  executor.define("k", [&](std::span<const language::KernelArgument> arguments) {
    seen = std::get<language::KernelBuffer>(arguments[0]);
    language::floats(arguments[0])[0] = 7;
    return language::LaunchOutcome{.stored = {0}};
  });
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::zeros({8}));
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_EQ(seen.storage_bytes, 32U);
  EXPECT_EQ(seen.offset_bytes, 16U);
  EXPECT_EQ(replay.tensors()[0][4].item<float>(), 7);
  EXPECT_EQ(replay.launches().at(1).stored_tensors, std::vector<int>{tail});
}

TEST_F(ReplayTest, StopsAtAnOperatorItDoesNotReplayAndBlamesNobody) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int y = builder.tensor({4});
  builder.aten(plan::Phase::forward, "aten::from_file", {plan::Value{std::string("/etc/passwd")}},
               {y});
  Replay replay(builder.plan(), executor, {});
  const auto stop = replay.run(plan::Phase::forward);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->error.error_class, ErrorClass::not_evaluable);
  EXPECT_EQ(stop->error.line, 10);
  EXPECT_EQ(stop->fault, Fault::none);
}

TEST_F(ReplayTest, TurnsWhatTheOperatorRefusesIntoTheCandidatesError) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int x = builder.tensor({2, 3});
  const int y = builder.tensor({2, 2});
  builder.input(plan::t(x)).aten(plan::Phase::forward, "aten::mm", {plan::t(x), plan::t(x)}, {y});
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::zeros({2, 3}));
  const auto stop = replay.run(plan::Phase::forward);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->error.error_class, ErrorClass::exception);
  EXPECT_EQ(stop->fault, Fault::candidate);
}

TEST_F(ReplayTest, RefusesAPlanThatDeclaresLessThanItAllocates) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int y = builder.tensor({4});
  builder.aten(plan::Phase::forward, "aten::empty.memory_format", {plan::ints({1 << 30, 1 << 10})},
               {y});
  Replay replay(builder.plan(), executor, {});
  EXPECT_EQ(replay.run(plan::Phase::forward)->error.error_class, ErrorClass::too_large_to_evaluate);
}

TEST_F(ReplayTest, GivesAnOperatorsResultItsDeclaredStrides) {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int x = builder.tensor({2, 3});
  const int y = builder.tensor({2, 3});
  builder.plan().tensors[1].stride = {1, 2};
  builder.input(plan::t(x)).aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y});
  Replay replay(builder.plan(), executor, {});
  replay.bind(x, at::ones({2, 3}));
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_EQ(replay.tensors()[1].stride(1), 2);
}

TEST_F(ReplayTest, DrawsTheSameValuesFromTheSameSeedOnly) {
  plan::PlanBuilder builder(plan::PlanRole::task);
  const int x = builder.tensor({16});
  builder.aten(plan::Phase::inputs, "aten::randn", {plan::ints({16})}, {x},
               {{"device", plan::Value{plan::DeviceKind::cuda}}});
  const auto draw = [&](std::uint64_t seed) {
    Replay replay(builder.plan(), executor, {});
    device::cpu_device().seed(seed);
    EXPECT_FALSE(replay.run(plan::Phase::inputs));
    return replay.tensors()[0];
  };
  EXPECT_TRUE(at::equal(draw(1), draw(1)));
  EXPECT_FALSE(at::equal(draw(1), draw(2)));
}

TEST_F(ReplayTest, MakesAllFloatingFactoriesDoubleForTheOracle) {
  plan::PlanBuilder builder(plan::PlanRole::task);
  const int x = builder.tensor({2}, plan::DType::float16);
  builder.aten(plan::Phase::forward, "aten::zeros", {plan::ints({2})}, {x},
               {{"dtype", plan::Value{plan::DType::float16}}});
  Replay replay(builder.plan(), executor, {.precision = Precision::float64});
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_EQ(replay.tensors()[0].scalar_type(), at::kDouble);
}

// Each memory appears once, and memory that existed before does not appear.
TEST_F(ReplayTest, TellsWhatForwardMadeAnew) {
  plan::PlanBuilder plan(plan::PlanRole::candidate);
  const int x = plan.tensor({4}), view = plan.view(x, {2, 2}, {2, 1});
  const int y = plan.tensor({2, 2}), same = plan.view(y, {2, 2}, {2, 1}), sum = plan.tensor({2, 2}),
            noise = plan.tensor({4});
  plan.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::view", {plan::t(x), plan::ints({2, 2})}, {view})
      .aten(plan::Phase::forward, "aten::relu", {plan::t(view)}, {y})
      .aten(plan::Phase::forward, "aten::add_.Tensor", {plan::t(y), plan::t(view)}, {same})
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(same), plan::t(view)}, {sum})
      .aten(plan::Phase::forward, "aten::relu_", {plan::t(x)}, {x})
      .aten(plan::Phase::forward, "aten::rand", {plan::ints({4})}, {noise})
      .returns(plan::t(sum));
  const plan::Plan given = plan::analysis::with_draws_first(plan.plan());
  language::FakeExecutor none;
  Replay replay(given, none, {});
  replay.bind(x, at::ones({4}));
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_EQ(made_by_forward(plan.plan(), replay.tensors()), (std::vector<int>{y, sum}));
  EXPECT_EQ(made_by_forward(given, replay.tensors()), (std::vector<int>{y, sum}));
  ASSERT_FALSE(replay.draw_again());
  EXPECT_EQ(made_by_forward(given, replay.tensors()), (std::vector<int>{y, sum, noise}));
  const at::Tensor drawn = tensors::tensor_at(replay.tensors(), noise);
  ASSERT_FALSE(replay.draw_again());
  EXPECT_TRUE(at::equal(tensors::tensor_at(replay.tensors(), noise), drawn));
  EXPECT_NE(tensors::tensor_at(replay.tensors(), noise).const_data_ptr(), drawn.const_data_ptr());
  replay.seed_draws(1);
  ASSERT_FALSE(replay.draw_again());
  EXPECT_FALSE(at::equal(tensors::tensor_at(replay.tensors(), noise), drawn));
  tensors::TensorTable more = replay.tensors();
  more.push_back(at::ones({1}));  // a tensor beyond the plan's count
  EXPECT_EQ(made_by_forward(given, more), (std::vector<int>{y, sum, noise, 6}));
}

// A check for a changed input reads the input's memory.
TEST_F(ReplayTest, AnInputIsNotMadeAnew) {
  for (const std::string op : {"aten::relu", "aten::relu_"}) {
    plan::PlanBuilder plan(plan::PlanRole::candidate);
    const int x = plan.tensor({4});
    plan.input(plan::t(x)).aten(plan::Phase::forward, op, {plan::t(x)}, {x}).returns(plan::t(x));
    language::FakeExecutor none;
    Replay replay(plan.plan(), none, {});
    replay.bind(x, at::ones({4}));
    const auto stop = replay.run(plan::Phase::forward);
    EXPECT_EQ(stop.has_value(), op == "aten::relu");
  }
}

TEST_F(ReplayTest, NoKernelIsGivenWhatIsNegatedOnlyWhenItIsRead) {
  plan::PlanBuilder plan(plan::PlanRole::candidate);
  const int x = plan.tensor({4}), y = plan.tensor({4});
  const int kernel = plan.kernel("k", {"*fp32"});
  plan.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::_neg_view", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(y)})
      .returns(plan::t(y));
  language::FakeExecutor negating;
  negating.define("k", [](auto) { return language::LaunchOutcome{}; });
  Replay replay(plan.plan(), negating, {});
  replay.bind(x, at::ones({4}));
  const auto stop = replay.run(plan::Phase::forward);
  ASSERT_TRUE(stop);
  EXPECT_NE(stop->error.message.find("resolve_neg"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::gym::replay
