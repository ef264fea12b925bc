#include "gym/referee/referee.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cmath>

#include "gym/referee/testing/reports.h"
#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

struct RefereeTest : ::testing::Test {
  RefereeReport judge(const PlanBuilder& task, const PlanBuilder& candidate,
                      FakeExecutor::Body body, Policy policy = Policy::strict) {
    job.task_key = "task";
    job.candidate_plan = plan_json(candidate);
    job.secret = "secret";
    job.policy = policy;
    return referee_of(task, std::move(body))->judge(job);
  }
  RefereeJob job;
};

TEST_F(RefereeTest, CallsAKernelCorrectThatComputesWhatTheReferenceDoes) {
  const auto report = judge(task_of("aten::relu"), candidate_of_kernel(), relu_kernel());
  EXPECT_TRUE(report.correct) << error_class(report) << error_message(report);
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(report.numerics->trials, 3);
  EXPECT_TRUE(report.findings.empty());
}

TEST_F(RefereeTest, NamesTheFirstWrongElement) {
  const auto report = judge(task_of("aten::relu"), candidate_of_kernel(), copy_kernel());
  EXPECT_FALSE(report.correct);
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_EQ(report.fault, Fault::candidate);
}

TEST_F(RefereeTest, SeesElementsThatNobodyWrote) {
  const auto report =
      judge(task_of("aten::relu"), candidate_of_kernel(), elementwise(kLength / 2, relu));
  EXPECT_EQ(error_class(report), "unwritten");
}

TEST_F(RefereeTest, IsNotFooledByOutputsSmallerThanTheTolerance) {
  const auto tiny = task_of("aten::mul.Tensor", {f(1e-6)});
  const auto zeros =
      judge(tiny, candidate_of_kernel(), elementwise(kLength, [](float) { return 0.0F; }));
  EXPECT_EQ(error_class(zeros), "wrong_value");
  const auto honest =
      judge(tiny, candidate_of_kernel(), elementwise(kLength, [](float x) { return x * 1e-6F; }));
  EXPECT_TRUE(honest.correct) << error_message(honest);
}

TEST_F(RefereeTest, ComparesAsKernelBenchDoesWhereItIsAskedTo) {
  const auto off_by = [&](float error) {
    return judge(task_of("aten::mul.Tensor", {f(1e-6)}), candidate_of_kernel(),
                 elementwise(kLength, [error](float x) { return x * 1e-6F + error; }));
  };
  const auto by_budget = off_by(9e-5F);
  EXPECT_EQ(error_class(by_budget), "wrong_value");
  job.comparison = Comparison::allclose;
  const auto within = off_by(9e-5F);
  EXPECT_TRUE(within.correct) << error_message(within);
  EXPECT_EQ(error_class(off_by(1.1e-4F)), "wrong_value");
}

TEST_F(RefereeTest, DoesNotSpeakForKernelBenchOfTypesItHasNoToleranceFor) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength}, DType::float64), y = task.tensor({kLength}, DType::float64);
  task.aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x},
            {{"dtype", Value{DType::float64}}})
      .input(t(x))
      .aten(Phase::forward, "aten::relu", {t(x)}, {y})
      .returns(t(y));
  job.comparison = Comparison::allclose;
  const auto report = judge(task, candidate_of_kernel(), relu_kernel());
  EXPECT_EQ(error_class(report), "not_comparable");
  EXPECT_EQ(report.fault, Fault::none);
}

TEST_F(RefereeTest, WantsNanWhereTheReferenceHasIt) {
  const auto log = task_of("aten::log");  // of negative numbers too
  EXPECT_TRUE(
      judge(log, candidate_of_kernel(), elementwise(kLength, [](float x) { return std::log(x); }))
          .correct);
  const auto clamped =
      judge(log, candidate_of_kernel(),
            elementwise(kLength, [](float x) { return x > 0 ? std::log(x) : 0.0F; }));
  EXPECT_EQ(error_class(clamped), "wrong_value");
}

TEST_F(RefereeTest, RefusesTorchComputeUnderStrictOnly) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), y = candidate.tensor({kLength}),
            z = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y)})
      .aten(Phase::forward, "aten::relu", {t(y)}, {z})
      .returns(t(z));
  const auto strict = judge(task_of("aten::relu"), candidate, copy_kernel());
  EXPECT_TRUE(strict.correct);
  ASSERT_NE(find_rule(strict, "torch_compute"), nullptr);
  EXPECT_EQ(find_rule(strict, "torch_compute")->line, 12);
  EXPECT_TRUE(has_rule(judge(task_of("aten::relu"), candidate, copy_kernel(), Policy::fused),
                       "torch_compute"));
  EXPECT_FALSE(has_rule(judge(task_of("aten::relu"), candidate, copy_kernel(), Policy::open),
                        "torch_compute"));
}

TEST_F(RefereeTest, RefusesADecoyKernelUnderEveryPolicy) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), y = candidate.tensor({kLength}),
            z = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y)})
      .aten(Phase::forward, "aten::relu", {t(x)}, {z})
      .returns(t(z));
  const auto report = judge(task_of("aten::relu"), candidate, relu_kernel(), Policy::open);
  EXPECT_TRUE(report.correct);
  ASSERT_NE(find_rule(report, "kernel_output_unused"), nullptr);
  EXPECT_EQ(find_rule(report, "kernel_output_unused")->severity, Severity::reject);
}

TEST_F(RefereeTest, RefusesAForwardWithoutAnyKernel) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), y = candidate.tensor({kLength});
  candidate.input(t(x)).aten(Phase::forward, "aten::relu", {t(x)}, {y}).returns(t(y));
  const auto report = judge(task_of("aten::relu"), candidate, {}, Policy::open);
  EXPECT_TRUE(has_rule(report, "no_kernel"));
}

TEST_F(RefereeTest, FindsAnOutputThatDoesNotDependOnTheInputs) {
  const auto report = judge(task_of("aten::relu"), candidate_of_kernel(),
                            [](std::span<const KernelArgument> arguments) {
                              for (int k = 0; k < kLength; ++k) floats(arguments[1])[k] = 0;
                              return LaunchOutcome{.stored = {1}};
                            });
  EXPECT_TRUE(has_rule(report, "constant_output"));
}

TEST_F(RefereeTest, SeesAnInputThatTheKernelChanged) {
  const auto report = judge(task_of("aten::relu"), candidate_of_kernel(),
                            [](std::span<const KernelArgument> arguments) {
                              for (int k = 0; k < kLength; ++k) {
                                floats(arguments[1])[k] = relu(floats(arguments[0])[k]);
                                floats(arguments[0])[k] = 0;
                              }
                              return LaunchOutcome{.loaded = {0}, .stored = {0, 1}};
                            });
  EXPECT_EQ(error_class(report), "input_mutated");
}

TEST_F(RefereeTest, WantsAnInputChangedWhereTheReferenceChangesIt) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::relu_", {t(x)}, {x})
      .returns(t(x));
  PlanBuilder in_place(PlanRole::candidate);
  const int own = in_place.tensor({kLength});
  const int kernel = in_place.kernel("k", {"*fp32", "*fp32"});
  in_place.input(t(own)).launch(kernel, {t(own), t(own)}).returns(t(own));
  EXPECT_TRUE(judge(task, in_place, relu_kernel()).correct);
  EXPECT_EQ(error_class(judge(task, candidate_of_kernel(), relu_kernel())), "state_mismatch");
}

TEST_F(RefereeTest, RefusesAnOutputInTheInputsMemory) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength});
  candidate.input(t(x)).returns(t(x));
  const auto report = judge(task_of("aten::alias"), candidate, {});
  EXPECT_TRUE(report.correct);
  const auto copying = judge(task_of("aten::clone"), candidate, {});
  EXPECT_EQ(error_class(copying), "output_aliases_input");
}

TEST_F(RefereeTest, RefusesAnOutputThatTheModuleKeeps) {
  PlanBuilder candidate(PlanRole::candidate);
  const int y = candidate.tensor({kLength}), x = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.aten(Phase::init, "aten::empty.memory_format", {ints({kLength})}, {y}, {kOnGpu})
      .input(t(x))
      .launch(kernel, {t(x), t(y)})
      .returns(t(y));
  EXPECT_EQ(error_class(judge(task_of("aten::relu"), candidate, relu_kernel())),
            "output_aliases_state");
}

TEST_F(RefereeTest, RefusesOutputsThatShareMemoryWhereTheReferencesDoNot) {
  PlanBuilder task = task_of("aten::relu");
  const int y = 1, copy = task.tensor({kLength});
  task.aten(Phase::forward, "aten::clone", {t(y)}, {copy}).returns(Value{Tuple{{t(y), t(copy)}}});
  PlanBuilder same = candidate_of_kernel();
  same.returns(Value{Tuple{{t(1), t(1)}}});
  EXPECT_EQ(error_class(judge(task, same, relu_kernel())), "output_aliases_output");
  // Two halves of one memory are nobody's but their own.
  PlanBuilder halves(PlanRole::candidate);
  const int x = halves.tensor({kLength}), both = halves.tensor({2, kLength}),
            first = halves.view(both, {kLength}, {1}),
            second = halves.view(both, {kLength}, {1}, kLength);
  const int kernel = halves.kernel("k", {"*fp32", "*fp32"});
  halves.input(t(x))
      .aten(Phase::forward, "aten::empty.memory_format", {ints({2, kLength})}, {both}, {kOnGpu})
      .aten(Phase::forward, "aten::select.int", {t(both), i(0), i(0)}, {first})
      .aten(Phase::forward, "aten::select.int", {t(both), i(0), i(1)}, {second})
      .launch(kernel, {t(x), t(first)})
      .launch(kernel, {t(x), t(second)})
      .returns(Value{Tuple{{t(first), t(second)}}});
  const auto honest = judge(task, halves, relu_kernel());
  EXPECT_TRUE(honest.correct) << error_message(honest);
  PlanBuilder shared = task_of("aten::relu");
  shared.returns(Value{Tuple{{t(y), t(y)}}});
  EXPECT_TRUE(judge(shared, same, relu_kernel()).correct);
}

TEST_F(RefereeTest, RefusesAnotherShapeDtypeOrStructure) {
  const auto with_output = [](std::vector<std::int64_t> shape, DType dtype) {
    PlanBuilder candidate(PlanRole::candidate);
    const int x = candidate.tensor({kLength});
    const int y = candidate.tensor(shape, dtype);
    candidate.input(t(x))
        .aten(Phase::forward, "aten::zeros", {ints(shape)}, {y}, {{"dtype", Value{dtype}}})
        .returns(t(y));
    return candidate;
  };
  EXPECT_EQ(
      error_class(judge(task_of("aten::relu"), with_output({kLength, 1}, DType::float32), {})),
      "wrong_shape");
  EXPECT_EQ(error_class(judge(task_of("aten::relu"), with_output({kLength}, DType::float16), {})),
            "wrong_dtype");
  auto pair = with_output({kLength}, DType::float32);
  pair.returns(Value{Tuple{{t(1)}}});
  EXPECT_EQ(error_class(judge(task_of("aten::relu"), pair, {})), "wrong_structure");
}

// y = x + bias, the bias a parameter of zeros as many constructors make it.
PlanBuilder task_with_bias() {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength}), bias = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::init, "aten::zeros", {ints({kLength})}, {bias})
      .parameter("bias", bias)
      .aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::add.Tensor", {t(x), t(bias)}, {y})
      .returns(t(y));
  return task;
}

PlanBuilder candidate_with_bias(const std::string& name) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), bias = candidate.tensor({kLength}),
            y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(Phase::init, "aten::zeros", {ints({kLength})}, {bias})
      .parameter(name, bias)
      .input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y), t(bias)})
      .returns(t(y));
  return candidate;
}

FakeExecutor::Body adding(float share_of_bias) {
  return [share_of_bias](std::span<const KernelArgument> a) {
    for (int k = 0; k < kLength; ++k)
      floats(a[1])[k] = floats(a[0])[k] + share_of_bias * floats(a[2])[k];
    return LaunchOutcome{.loaded = {0, 2}, .stored = {1}};
  };
}

TEST_F(RefereeTest, BindsWeightsByNameElseByContent) {
  EXPECT_TRUE(judge(task_with_bias(), candidate_with_bias("bias"), adding(1)).correct);
  EXPECT_TRUE(judge(task_with_bias(), candidate_with_bias("renamed"), adding(1)).correct);
}

TEST_F(RefereeTest, SeesAnIgnoredBiasThatTheConstructorFilledWithZeros) {
  EXPECT_EQ(error_class(judge(task_with_bias(), candidate_with_bias("bias"), adding(0))),
            "wrong_value");
}

// As nn.Parameter(torch.zeros(1).expand(n)) is one.
TEST_F(RefereeTest, AWeightWhoseElementsShareMemoryIsTheCandidatesError) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), one = candidate.tensor({1}),
            bias = candidate.view(one, {kLength}, {0}), y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(Phase::init, "aten::zeros", {ints({1})}, {one})
      .aten(Phase::init, "aten::expand", {t(one), ints({kLength})}, {bias})
      .parameter("bias", bias)
      .input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y), t(bias)})
      .returns(t(y));
  const auto report = judge(task_with_bias(), candidate, adding(1));
  EXPECT_EQ(error_class(report), "overlapping_weight");
  EXPECT_EQ(report.fault, Fault::candidate);
}

TEST_F(RefereeTest, StateWhoseElementsShareMemoryIsPutBack) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), one = candidate.tensor({1}),
            count = candidate.view(one, {kLength}, {0}), y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(Phase::init, "aten::zeros", {ints({1})}, {one})
      .aten(Phase::init, "aten::expand", {t(one), ints({kLength})}, {count})
      .input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y), t(count)})
      .returns(t(y));
  float most = 0;
  const auto report =
      judge(task_of("aten::relu"), candidate, [&](std::span<const KernelArgument> a) {
        most = std::max(most, floats(a[2])[0] += 1);
        return relu_kernel()(a);
      });
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_EQ(most, 3) << "of one trial's three calls";
}

TEST_F(RefereeTest, LackOfMemoryIsNobodysFaultWhereverItShows) {
  const auto report =
      judge(task_of("aten::relu"), candidate_of_kernel(),
            [](std::span<const KernelArgument>) -> LaunchOutcome { throw std::bad_alloc(); });
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_EQ(report.fault, Fault::none);
}

TEST_F(RefereeTest, JudgesDropoutInEvaluationModeAndSaysSo) {
  const auto report = judge(task_of("aten::native_dropout", {f(0.5), Value{true}}),
                            candidate_of_kernel(), copy_kernel());
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(has_rule(report, "judged_in_eval_mode"));
  EXPECT_EQ(error_class(judge(task_of("aten::rand_like"), candidate_of_kernel(), {})),
            "nondeterministic_reference");
}

// Noise of a fixed shape: who draws the same has the same numbers, and no other passes.
TEST_F(RefereeTest, GivesBothSidesWhatForwardDraws) {
  PlanBuilder task(PlanRole::task), candidate(PlanRole::candidate);
  const int x = task.tensor({kLength}), noise = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, "aten::randn", {ints({kLength})}, {noise}, {kOnGpu})
      .aten(Phase::forward, "aten::add.Tensor", {t(x), t(noise)}, {y})
      .returns(t(y));
  const int given = candidate.tensor({kLength}), drawn = candidate.tensor({kLength}),
            sum = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.input(t(given))
      .aten(Phase::forward, "aten::empty_like", {t(given)}, {sum})
      .aten(Phase::forward, "aten::randn", {ints({kLength})}, {drawn}, {kOnGpu})
      .launch(kernel, {t(given), t(drawn), t(sum)})
      .returns(t(sum));
  const auto adds = [](std::span<const KernelArgument> a) {
    for (int k = 0; k < kLength; ++k) floats(a[2])[k] = floats(a[0])[k] + floats(a[1])[k];
    return LaunchOutcome{.loaded = {0, 1}, .stored = {2}};
  };
  const auto report = judge(task, candidate, adds);
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(has_rule(report, "given_draws"));
  EXPECT_FALSE(has_rule(report, "torch_compute"));
  EXPECT_EQ(error_class(judge(task, candidate_of_kernel(), copy_kernel())), "wrong_value");
}

TEST_F(RefereeTest, RunsConvolutionsWhoseLibraryBringsItsOwnMemory) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({1, 3, 9, 9}), w = task.tensor({4, 3, 3, 3}),
            y = task.tensor({1, 4, 7, 7});
  const std::vector<Value> args = {t(x),         t(w),         Value{None{}},
                                   ints({1, 1}), ints({0, 0}), ints({1, 1}),
                                   Value{false}, ints({0, 0}), i(1)};
  task.aten(Phase::init, "aten::rand", {ints({4, 3, 3, 3})}, {w})
      .parameter("weight", w)
      .aten(Phase::inputs, "aten::rand", {ints({1, 3, 9, 9})}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::convolution", args, {y})
      .returns(t(y));
  PlanBuilder same = task;
  same.plan().role = PlanRole::candidate;
  std::erase_if(same.plan().steps,
                [](const PlanStep& step) { return step.phase == Phase::inputs; });
  const auto report = judge(task, same, {}, Policy::fused);
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_FALSE(has_rule(report, "torch_compute"));
  EXPECT_TRUE(has_rule(report, "no_kernel"));
}

TEST_F(RefereeTest, BlamesNobodyForWhatIsTooLargeOrUnknown) {
  job.budget.memory_bytes = 1024;
  const auto large = judge(task_of("aten::relu"), candidate_of_kernel(), relu_kernel());
  EXPECT_EQ(error_class(large), "too_large_to_evaluate");
  EXPECT_EQ(large.fault, Fault::none);
  job.budget.memory_bytes = 1 << 30;
  const auto unknown =
      judge(task_of("aten::no_such_operator"), candidate_of_kernel(), relu_kernel());
  EXPECT_EQ(error_class(unknown), "not_evaluable");
  EXPECT_EQ(unknown.fault, Fault::none);
}

// A kernel that is at work until the time is over would be so on a quiet machine too; one that
// waited may have waited for others.
TEST_F(RefereeTest, ADeadlineHitIsWorthARetryOnlyWhereOthersMayBeTheReason) {
  job.budget.seconds = 0.1;
  const auto report_of = [&](const std::function<void(const Stopwatch&)>& pass_time) {
    return judge(task_of("aten::relu"), candidate_of_kernel(), [&](const auto&) {
      const Stopwatch watch;
      while (watch.seconds() < 0.2) pass_time(watch);
      return LaunchOutcome{.error = VerdictError{.error_class = "too_large_to_evaluate"}};
    });
  };
  const auto waiting = report_of([](const Stopwatch&) { ::poll(nullptr, 0, 10); });
  EXPECT_EQ(error_class(waiting), "too_large_to_evaluate");
  EXPECT_TRUE(waiting.deadline_hit);
  bool is_retried = true;  // beside other work it may get less than a core
  for (int attempt = 0; attempt < 50 && is_retried; ++attempt)
    is_retried = report_of([](const Stopwatch&) {}).deadline_hit;
  EXPECT_FALSE(is_retried);
}

TEST_F(RefereeTest, DoesWithoutTheOracleWhereMemoryIsShort) {
  PlanBuilder task = task_of("aten::relu");
  constexpr std::int64_t declared = 1 << 16;
  task.tensor({declared / 4});  // never made, so that there is room for the rest
  job.budget.memory_bytes = 3 * declared;
  const auto report = judge(task, candidate_of_kernel(), relu_kernel());
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(has_rule(report, "judged_without_oracle"));
}

// Zeros would pass there by the plain tolerance, and no trial of extreme values would count.
TEST_F(RefereeTest, BuffersOfTheCandidateCostNoOracleItsMemory) {
  const auto zeros = elementwise(kLength, [](float) { return 0.0F; });
  job.budget.memory_bytes = 1 << 20;
  PlanBuilder candidate = candidate_of_kernel();
  candidate.tensor({(1 << 18) - 512});
  const auto report = judge(task_of("aten::mul.Tensor", {f(1e-6)}), candidate, zeros);
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_EQ(report.fault, Fault::none);
}

TEST_F(RefereeTest, TurnsAnUnreadablePlanIntoTheCandidatesError) {
  const auto referee = referee_of(task_of("aten::relu"), {});
  const auto report = referee->judge({.task_key = "task", .candidate_plan = "{\"format\": 7}"});
  EXPECT_EQ(error_class(report), "bad_plan");
  EXPECT_EQ(report.fault, Fault::candidate);
  EXPECT_FALSE(referee->add_task("other", "{}"));
}

}  // namespace
}  // namespace tritonsmith::gym
