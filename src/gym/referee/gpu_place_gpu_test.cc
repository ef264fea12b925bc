#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gym/gpu/cuda_executor.h"
#include "gym/gpu/fused_oracles.h"
#include "gym/referee/draw.h"
#include "gym/referee/gpu_place.h"
#include "gym/referee/replay.h"
#include "gym/referee/testing/gpu_fixture.h"
#include "gym/referee/testing/reports.h"
#include "gym/referee/timed_side.h"

namespace tritonsmith::gym {
namespace {

TEST_F(GpuPlaceTest, DrawsTheSameAfterTheSameSeed) {
  test_gpu()->seed(7);
  const at::Tensor first = at::randn({1000}, floats());
  test_gpu()->seed(7);
  EXPECT_TRUE(at::equal(first, at::randn({1000}, floats())));
  EXPECT_FALSE(at::equal(first, at::randn({1000}, floats())));
}

TEST_F(GpuPlaceTest, FillsWhatIsUnwrittenAndSeesWritesBesideIt) {
  const at::Tensor filled = test_gpu()->filled(at::empty({3, 5}, floats()));
  EXPECT_TRUE(filled.isnan().all().item<bool>());
  EXPECT_FALSE(test_gpu()->wait(Deadline::never()));
  const auto behind = reinterpret_cast<CUdeviceptr>(filled.const_data_ptr()) + filled.nbytes();
  test_gpu()->driver().memset_async(behind, 0, 4, nullptr);
  const auto error = test_gpu()->wait(Deadline::never());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, "out_of_bounds");
  EXPECT_NE(error->message.find("4 bytes"), std::string::npos);
  EXPECT_FALSE(test_gpu()->spent());
}

TEST_F(GpuPlaceTest, WideGuardsSeeWritesFarBeside) {
  constexpr std::size_t far = 8 << 20;
  for (const bool wide : {false, true}) {
    test_gpu()->guard_with(wide ? GpuPlace::kWideGuard : GpuPlace::kNarrowGuard);
    test_gpu()->begin(Filler::nan, 0);
    const at::Tensor room = at::zeros({4 * static_cast<std::int64_t>(far)}, floats());
    const at::Tensor filled = test_gpu()->filled(at::empty({1000}, floats()));
    if (wide)
      test_gpu()->driver().memset_async(
          reinterpret_cast<CUdeviceptr>(filled.const_data_ptr()) + far, 0, 4, nullptr);
    EXPECT_EQ(test_gpu()->wait(Deadline::never()).has_value(), wide);
  }
  test_gpu()->guard_with(GpuPlace::kNarrowGuard);
}

// What a reference's numbers are worth, and that a comparison of other tensors measures anew.
TEST_F(GpuPlaceTest, MeasuresAReference) {
  const at::Tensor exact = at::randn({50'001}, floats().dtype(at::kDouble));
  at::Tensor reference = exact.to(at::kFloat);
  const ReferenceQuality sound = test_gpu()->measure(reference, exact);
  EXPECT_TRUE(sound.is_finite);
  EXPECT_NEAR(sound.own_error, own_error(reference.cpu(), exact.cpu()), 1e-12);
  const at::Tensor off = reference + 3e-5;
  Numerics numerics;
  const CompareOptions how{.tolerance = 1e-4, .device = test_gpu()};
  EXPECT_FALSE(compare_tensors("output", off, reference, exact, how, numerics));
  reference[7] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(test_gpu()->measure(reference, exact).is_finite);
}

TEST_F(GpuPlaceTest, TellsAnyChangedByte) {
  for (const std::int64_t count : {1, 15, 16, 17, 100'003}) {
    at::Tensor bytes = at::randint(0, 256, {count}, floats().dtype(at::kByte));
    const Snapshot before = test_gpu()->snapshots({&bytes, 1}).front();
    EXPECT_TRUE(test_gpu()->unchanged(bytes.clone(), before));
    at::Tensor last = bytes.narrow(0, count - 1, 1);
    last.bitwise_xor_(1);
    EXPECT_FALSE(test_gpu()->unchanged(bytes, before)) << count;
  }
}

// The device's comparison and the CPU's, on values of all kinds.
TEST_F(GpuPlaceTest, ComparesAsTheCpuDoes) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor exact = at::randn({40'001}, at::kDouble);
    const at::Tensor reference = exact.to(dtype);
    at::Tensor candidate = (exact + 3e-5 * at::randn({40'001}, at::kDouble)).to(dtype);
    candidate[7] = std::numeric_limits<double>::quiet_NaN();
    candidate[40'000] = 100;
    const auto both = [&](const at::Tensor& tensor, DeviceComparison* device, auto place,
                          Numerics& numerics) {
      return compare_tensors("output", tensor.to(place), reference.to(place), exact.to(place),
                             {.tolerance = tolerance_of(dtype), .device = device}, numerics);
    };
    for (const at::Tensor& tensor : {candidate, reference}) {
      Numerics here, there;
      const auto cpu_error = both(tensor, nullptr, at::kCPU, here);
      const auto gpu_error = both(tensor, test_gpu(), at::kCUDA, there);
      ASSERT_EQ(cpu_error.has_value(), gpu_error.has_value());
      if (cpu_error) {
        EXPECT_EQ(cpu_error->message, gpu_error->message);
      }
      EXPECT_DOUBLE_EQ(here.max_abs, there.max_abs);
      EXPECT_NEAR(here.max_rel, there.max_rel, 1e-12 * here.max_rel);
    }
  }
}

// What the device finds wrong is looked at once more where the reference is coarse.
TEST_F(GpuPlaceTest, LetsBeWhoIsAboutAsExactAsACoarseReference) {
  const at::Tensor exact = at::linspace(0, 3, 64, floats().dtype(at::kDouble)).cos();
  const at::Tensor sign = at::arange(64, floats()).remainder(2) * 2 - 1;
  const at::Tensor reference = (exact + 5e-5 * sign).to(at::kFloat);
  const CompareOptions how{.tolerance = 1e-4, .device = test_gpu()};
  const auto compare = [&](const at::Tensor& off, Numerics& numerics) {
    return compare_tensors("output", off.to(at::kFloat), reference, exact, how, numerics);
  };
  Numerics like, unlike;
  EXPECT_FALSE(compare(exact - 2e-4 * sign, like));
  EXPECT_GT(like.leeway, 2e-4);
  EXPECT_TRUE(compare(exact - 1e-3 * sign, unlike));
  EXPECT_EQ(unlike.leeway, 0);
}

// Also where a type's own rounding is all that the reference is off.
TEST_F(GpuPlaceTest, HasABudgetIn16Bits) {
  const at::Tensor exact = at::softmax(at::rand({8, 4096}, floats().dtype(at::kDouble)), -1);
  for (const auto half : {at::kHalf, at::kBFloat16}) {
    const at::Tensor reference = exact.to(half), zeros = at::zeros_like(reference);
    const CompareOptions how{.tolerance = 1e-2, .device = test_gpu()};
    EXPECT_FALSE(test_gpu()->judge(zeros, reference, {.values = exact}, how).is_right);
    EXPECT_TRUE(test_gpu()->judge(reference, reference, {.values = exact}, how).is_right);
    Numerics numerics;
    EXPECT_TRUE(compare_tensors("output", zeros, reference, exact, how, numerics));
    EXPECT_FALSE(compare_tensors("output", reference, reference, exact, how, numerics));
  }
}

// Whatever the one pass calls right, the close look finds right too; and it knows most of that.
TEST_F(GpuPlaceTest, JudgesInOnePassByTheSameRules) {
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor exact = at::randn({40'004}, floats().dtype(at::kDouble));
    const at::Tensor reference = exact.to(dtype);
    const double tolerance = tolerance_of(dtype);
    int right = 0, wrong = 0;
    int step = 0;
    for (double error = 0.01; error < 100; error *= 1.5) {
      const at::Tensor off = exact + error * tolerance * at::randn_like(exact);
      const auto rule = step++ % 2 == 0 ? Comparison::budget : Comparison::allclose;
      const CompareOptions how{.rule = rule, .tolerance = tolerance, .device = test_gpu()};
      const QuickJudgement quick =
          test_gpu()->judge(off.to(dtype), reference, {.values = exact}, how);
      Numerics numerics;
      const auto closely =
          compare_tensors("output", off.to(dtype), reference, exact, how, numerics);
      EXPECT_EQ(quick.is_right, !closely) << error;
      EXPECT_DOUBLE_EQ(quick.max_abs, numerics.max_abs);
      EXPECT_DOUBLE_EQ(quick.max_rel, numerics.max_rel);
      EXPECT_NEAR(quick.reference.own_error, test_gpu()->measure(reference, exact).own_error,
                  1e-12);
      ++(quick.is_right ? right : wrong);
    }
    EXPECT_GT(right, 3);
    EXPECT_GT(wrong, 3);
    at::Tensor special = reference.clone();
    special[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(test_gpu()->judge(special, reference, {.values = exact}, {}).is_right);
    EXPECT_TRUE(test_gpu()->judge(special, special, {.values = exact}, {}).is_right);
  }
}

TEST_F(GpuPlaceTest, HasNoBudgetByAllclose) {
  const at::Tensor exact = at::full({4096}, 1e-6, floats().dtype(at::kDouble));
  const at::Tensor reference = exact.to(at::kFloat), zeros = at::zeros_like(reference);
  for (const Comparison rule : {Comparison::budget, Comparison::allclose}) {
    const bool passes = rule == Comparison::allclose;
    const CompareOptions how{.rule = rule, .tolerance = 1e-4, .device = test_gpu()};
    EXPECT_EQ(test_gpu()->judge(zeros, reference, {.values = exact}, how).is_right, passes);
    Numerics numerics;
    EXPECT_EQ(!compare_tensors("output", zeros, reference, exact, how, numerics), passes);
  }
}

// What a kernel computes in registers, against LibTorch's own operators in float64.
TEST_F(GpuPlaceTest, FusedOraclesGiveWhatLibTorchDoes) {
  gpu::CudaExecutor executor(test_gpu()->driver());
  gpu::FusedOracles oracles(test_gpu()->driver(), test_gpu()->nvrtc(), test_gpu()->facts().target);
  constexpr std::int64_t n = (1 << 20) + 4;
  const at::Tensor x = 4 * at::randn({n}, floats());
  const auto check = [&](const std::string& op, std::vector<Value> arguments) {
    PlanBuilder task(PlanRole::task);
    const int in = task.tensor({n}), out = task.tensor({n});
    arguments.insert(arguments.begin(), t(in));
    task.input(t(in)).aten(Phase::forward, op, arguments, {out}).returns(t(out));
    EXPECT_FALSE(oracles.find(task.plan()));
    oracles.finish();
    const auto fused = oracles.find(task.plan());
    ASSERT_TRUE(fused) << op;
    Replay exact(task.plan(), executor, {.precision = Precision::float64, .place = test_gpu()});
    exact.bind(in, x.to(at::kDouble));
    ASSERT_FALSE(exact.run(Phase::forward)) << op;
    const at::Tensor expected = exact.tensors()[1], reference = expected.to(at::kFloat);
    const auto quick =
        test_gpu()->judge(reference, reference, {.fused = &*fused, .leaves = {x}}, {});
    const ReferenceQuality measured = test_gpu()->measure(reference, expected);
    EXPECT_EQ(quick.reference.is_finite, measured.is_finite) << op;
    EXPECT_TRUE(quick.is_right) << op;
    if (std::isfinite(measured.own_error)) {
      EXPECT_NEAR(quick.reference.own_error, measured.own_error, 1e-12) << op;
    } else {
      EXPECT_FALSE(std::isfinite(quick.reference.own_error)) << op;
    }
  };
  for (const char* op :
       {"relu", "sigmoid", "tanh", "silu",     "gelu",       "mish",   "exp",        "expm1",
        "log",  "log1p",   "sqrt", "rsqrt",    "abs",        "square", "reciprocal", "neg",
        "sin",  "cos",     "erf",  "softplus", "leaky_relu", "elu",    "hardtanh"})
    check(fmt::format("aten::{}", op), {});
  check("aten::softplus", {f(2), f(3)});
  check("aten::elu", {f(0.5), f(1.5), f(2)});
  check("aten::clamp", {f(-1), Value{None{}}});
  check("aten::clamp_min", {f(0.5)});
  check("aten::clamp_max", {f(0.5)});
  check("aten::pow.Tensor_Scalar", {i(3)});
  check("aten::add.Tensor", {f(0.3)});
  check("aten::sub.Tensor", {f(0.3)});
  check("aten::mul.Tensor", {f(0.3)});
  check("aten::div.Tensor", {f(0.3)});
  check("aten::rsub.Scalar", {f(0.3), i(2)});
}

TEST_F(GpuPlaceTest, ChangesCopiesAndRemembersInOnePass) {
  const at::Tensor x = at::randn({100, 1000}, floats());
  for (const InputChange change :
       {InputChange{}, {.factor = -1.7}, {.shift = 4}, {.factor = 2, .kept = 0.2, .seed = 9}}) {
    std::array inputs = {DrawnInput{.drawn = x.clone(), .change = change}};
    ASSERT_TRUE(test_gpu()->change_and_copy(inputs));
    ASSERT_FALSE(test_gpu()->wait(Deadline::never()));
    const auto& [drawn, ignored, copy] = inputs[0];
    EXPECT_TRUE(at::equal(drawn, copy));
    EXPECT_EQ(test_gpu()->copied(0).print, test_gpu()->snapshots({&drawn, 1}).front().print);
    at::Tensor expected = x.clone();
    if (change.kept < 1) {
      const at::Tensor kept = drawn.ne(0);
      EXPECT_NEAR(kept.to(at::kFloat).mean().item<double>(), change.kept, 0.01);
      expected.mul_(kept.to(at::kFloat)).mul_(change.factor);
    } else {
      change_input(change, expected);
    }
    EXPECT_TRUE(at::equal(drawn, expected));
  }
  std::array whole = {DrawnInput{.drawn = x.narrow(0, 0, 50)}};
  EXPECT_FALSE(test_gpu()->change_and_copy(whole)) << "others share its memory";
}

TEST_F(GpuPlaceTest, DrawsNormalAndUniformNumbers) {
  test_gpu()->seed(3);
  const std::vector<std::int64_t> sizes = {1 << 12, 1 << 10};
  const at::Tensor normal = *test_gpu()->draw(Distribution::normal, sizes);
  const at::Tensor uniform = *test_gpu()->draw(Distribution::uniform, sizes);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 2e-3);
  EXPECT_NEAR(normal.var().item<double>(), 1, 3e-3);
  EXPECT_NEAR(normal.lt(-1).to(at::kFloat).mean().item<double>(), 0.15866, 1e-3);
  EXPECT_NEAR(normal.gt(2).to(at::kFloat).mean().item<double>(), 0.02275, 5e-4);
  EXPECT_GT(normal.abs().max().item<double>(), 4.5);
  EXPECT_NEAR(uniform.mean().item<double>(), 0.5, 1e-3);
  EXPECT_NEAR(uniform.var().item<double>(), 1.0 / 12, 1e-3);
  EXPECT_GE(uniform.min().item<double>(), 0);
  EXPECT_LT(uniform.max().item<double>(), 1);
  EXPECT_NEAR((normal.narrow(1, 0, 512) * normal.narrow(1, 512, 512)).mean().item<double>(), 0,
              3e-3);
  test_gpu()->seed(3);
  EXPECT_TRUE(at::equal(normal, *test_gpu()->draw(Distribution::normal, sizes)));
  EXPECT_FALSE(at::equal(normal, *test_gpu()->draw(Distribution::normal, sizes)));
}

TEST_F(GpuPlaceTest, JudgesAndTimesAPlanOfOperators) {
  constexpr std::int64_t n = 1 << 20;
  PlanBuilder task(PlanRole::task), candidate(PlanRole::candidate);
  const int x = task.tensor({n}), y = task.tensor({n});
  task.aten(Phase::inputs, "aten::randn", {ints({n})}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::relu", {t(x)}, {y})
      .returns(t(y));
  const int own = candidate.tensor({n}), made = candidate.tensor({n});
  candidate.input(t(own))
      .aten(Phase::forward, "aten::clamp_min", {t(own), i(0)}, {made})
      .returns(t(made));
  Referee referee(GpuPlace::open(0).value());
  ASSERT_TRUE(referee.add_task("t", plan_json(task)));
  const RefereeReport report = referee.judge({.task_key = "t",
                                              .candidate_plan = plan_json(candidate),
                                              .secret = "s",
                                              .policy = Policy::open});
  ASSERT_TRUE(report.correct) << error_message(report);
  ASSERT_TRUE(report.timing);
  EXPECT_GT(report.timing->candidate.median, 0);
  EXPECT_GT(report.timing->reference.n, 9);
  EXPECT_EQ(report.timing->coverage, 0);
  EXPECT_EQ(report.timing->steps.at(0).op, "aten::clamp_min");
  const RefereeReport untimed = referee.judge({.task_key = "t",
                                               .candidate_plan = plan_json(candidate),
                                               .secret = "s",
                                               .trials = 4,
                                               .policy = Policy::open,
                                               .budget = {.timing_seconds = 0}});
  EXPECT_TRUE(untimed.correct) << error_message(untimed);
  EXPECT_FALSE(untimed.timing);
  EXPECT_EQ(untimed.numerics->trials, 4);
}

// The linter's rules themselves: lint_test.cc.
TEST_F(GpuPlaceTest, LooksAtATaskAsTheCpuDoes) {
  Referee referee(GpuPlace::open(0).value());
  for (const std::int64_t n : {std::int64_t{64}, std::int64_t{1} << 22})
    for (const double scale : {0.0, 1.0}) {
      PlanBuilder task(PlanRole::task);
      const int x = task.tensor({n}), y = task.tensor({n}), unused = task.tensor({n});
      task.aten(Phase::inputs, "aten::randn", {ints({n})}, {x})
          .aten(Phase::inputs, "aten::randn", {ints({n})}, {unused})
          .input(t(x))
          .input(t(unused))
          .aten(Phase::forward, "aten::mul.Scalar", {t(x), f(scale)}, {y})
          .returns(t(y));
      const std::string key = fmt::format("{} {}", n, scale);
      ASSERT_TRUE(referee.add_task(key, plan_json(task)));
      const RefereeReport report = referee.judge({.task_key = key, .secret = "s"});
      EXPECT_EQ(has_rule(report, "task_zeros_pass"), scale == 0) << key;
      EXPECT_TRUE(has_rule(report, "task_ignores_input")) << key;
      EXPECT_FALSE(has_rule(report, "task_not_linted")) << key;
    }
}

// Two sets of buffers: a run finds the one poisoned, and the other is poisoned before the next.
TEST_F(GpuPlaceTest, TimedRunsTakeTurnsBetweenPoisonedBuffers) {
  const c10::InferenceMode no_gradients(true);
  constexpr std::int64_t n = 1 << 23;
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({n}), y = candidate.tensor({n}), made = candidate.tensor({n});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .aten(Phase::forward, "aten::copy_", {t(y), t(x)}, {made})
      .returns(t(y));
  gpu::CudaExecutor executor(test_gpu()->driver());
  Replay replay(candidate.plan(), executor, {.place = test_gpu()});
  const at::Tensor input = at::randn({n}, floats());
  replay.bind(x, input);
  ASSERT_FALSE(replay.run(Phase::forward));
  TimedSide side(candidate.plan(), replay, *test_gpu(), {}, true);
  side.take_turns();
  at::Tensor before = side.outputs().front();
  for (int round = 0; round < 3; ++round) {
    side.prepare(Filler::nan);
    EXPECT_EQ(side.poison_others(Filler::nan), n * 4) << "the trial's, or the round's before";
    const at::Tensor now = side.outputs().front();
    EXPECT_NE(now.const_data_ptr(), before.const_data_ptr());
    EXPECT_TRUE(now.isnan().all().item<bool>() && before.isnan().all().item<bool>());
    ASSERT_FALSE(side.run());
    EXPECT_TRUE(at::equal(now, input));
    EXPECT_TRUE(before.isnan().all().item<bool>());
    before = now;
  }
  EXPECT_FALSE(test_gpu()->wait(Deadline::never()));
}

// Last: the place is lost.
TEST_F(GpuPlaceTest, ZzzGivesUpOnAKernelThatDoesNotEnd) {
  ASSERT_EQ(test_gpu()->kernels().launch_endless(), CUDA_SUCCESS);
  const auto error = test_gpu()->wait(Deadline::after(std::chrono::milliseconds(50)));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, "timeout");
  EXPECT_TRUE(test_gpu()->spent());
  // Nothing of the driver's may be called again: it would wait for the kernel. So this test, the
  // last, says what GoogleTest would.
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  const int passed = all.successful_test_count();  // this one counts as long as it has not failed
  std::printf("[  PASSED  ] %d of %d tests.\n", passed, all.test_to_run_count());
  std::fflush(nullptr);
  std::_Exit(passed == all.test_to_run_count() ? 0 : 1);
}

}  // namespace
}  // namespace tritonsmith::gym
