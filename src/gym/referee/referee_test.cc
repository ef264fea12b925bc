#include "gym/referee/referee.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

struct RefereeTest : ::testing::Test {
  RefereeReport judge(const plan::PlanBuilder& task, const plan::PlanBuilder& candidate,
                      language::FakeExecutor::Body body, Policy policy = Policy::strict) {
    job.task_key = "task";
    job.candidate_plan = plan_json(candidate);
    job.secret = "secret";
    job.policy = policy;
    return referee_of(task, std::move(body))->judge(job);
  }
  RefereeJob job;
};

TEST_F(RefereeTest, CallsAKernelCorrectThatComputesWhatTheReferenceDoes) {
  const auto report = judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
                            language::relu_kernel());
  EXPECT_TRUE(report.correct) << error_class(report) << error_message(report);
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(report.numerics->trials, 3);
  EXPECT_TRUE(report.findings.empty());
}

TEST_F(RefereeTest, NamesTheFirstWrongElement) {
  const auto report = judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
                            language::copy_kernel());
  EXPECT_FALSE(report.correct);
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_EQ(report.fault, Fault::candidate);
}

TEST_F(RefereeTest, SeesElementsThatNobodyWrote) {
  const auto report = judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
                            language::elementwise(language::kLength / 2, language::relu));
  EXPECT_EQ(error_class(report), "unwritten");
}

TEST_F(RefereeTest, IsNotFooledByOutputsSmallerThanTheTolerance) {
  const auto tiny = language::task_of("aten::mul.Tensor", {plan::f(1e-6)});
  const auto zeros = judge(tiny, language::candidate_of_kernel(),
                           language::elementwise(language::kLength, [](float) { return 0.0F; }));
  EXPECT_EQ(error_class(zeros), "wrong_value");
  const auto honest =
      judge(tiny, language::candidate_of_kernel(),
            language::elementwise(language::kLength, [](float x) { return x * 1e-6F; }));
  EXPECT_TRUE(honest.correct) << error_message(honest);
}

TEST_F(RefereeTest, ComparesAsKernelBenchDoesWhereItIsAskedTo) {
  const auto off_by = [&](float error) {
    return judge(
        language::task_of("aten::mul.Tensor", {plan::f(1e-6)}), language::candidate_of_kernel(),
        language::elementwise(language::kLength, [error](float x) { return x * 1e-6F + error; }));
  };
  const auto by_budget = off_by(9e-5F);
  EXPECT_EQ(error_class(by_budget), "wrong_value");
  job.comparison = Comparison::allclose;
  const auto within = off_by(9e-5F);
  EXPECT_TRUE(within.correct) << error_message(within);
  EXPECT_EQ(error_class(off_by(1.1e-4F)), "wrong_value");
}

TEST_F(RefereeTest, DoesNotSpeakForKernelBenchOfTypesItHasNoToleranceFor) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength}, plan::DType::float64),
            y = task.tensor({language::kLength}, plan::DType::float64);
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x},
            {{"dtype", plan::Value{plan::DType::float64}}})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
      .returns(plan::t(y));
  job.comparison = Comparison::allclose;
  const auto report = judge(task, language::candidate_of_kernel(), language::relu_kernel());
  EXPECT_EQ(error_class(report), "not_comparable");
  EXPECT_EQ(report.fault, Fault::none);
}

TEST_F(RefereeTest, WantsNanWhereTheReferenceHasIt) {
  const auto log = language::task_of("aten::log");  // its inputs have negative numbers
  EXPECT_TRUE(judge(log, language::candidate_of_kernel(),
                    language::elementwise(language::kLength, [](float x) { return std::log(x); }))
                  .correct);
  const auto clamped = judge(
      log, language::candidate_of_kernel(),
      language::elementwise(language::kLength, [](float x) { return x > 0 ? std::log(x) : 0.0F; }));
  EXPECT_EQ(error_class(clamped), "wrong_value");
}

TEST_F(RefereeTest, RefusesTorchComputeUnderStrictOnly) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), y = candidate.tensor({language::kLength}),
            z = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y)})
      .aten(plan::Phase::forward, "aten::relu", {plan::t(y)}, {z})
      .returns(plan::t(z));
  const auto strict = judge(language::task_of("aten::relu"), candidate, language::copy_kernel());
  EXPECT_TRUE(strict.correct);
  ASSERT_NE(find_rule(strict, "torch_compute"), nullptr);
  EXPECT_EQ(find_rule(strict, "torch_compute")->line, 12);
  EXPECT_TRUE(has_rule(
      judge(language::task_of("aten::relu"), candidate, language::copy_kernel(), Policy::fused),
      "torch_compute"));
  EXPECT_FALSE(has_rule(
      judge(language::task_of("aten::relu"), candidate, language::copy_kernel(), Policy::open),
      "torch_compute"));
}

TEST_F(RefereeTest, RefusesADecoyKernelUnderEveryPolicy) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), y = candidate.tensor({language::kLength}),
            z = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y)})
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {z})
      .returns(plan::t(z));
  const auto report =
      judge(language::task_of("aten::relu"), candidate, language::relu_kernel(), Policy::open);
  EXPECT_TRUE(report.correct);
  ASSERT_NE(find_rule(report, "kernel_output_unused"), nullptr);
  EXPECT_EQ(find_rule(report, "kernel_output_unused")->severity, Severity::reject);
}

TEST_F(RefereeTest, RefusesAForwardWithoutAnyKernel) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), y = candidate.tensor({language::kLength});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
      .returns(plan::t(y));
  const auto report = judge(language::task_of("aten::relu"), candidate, {}, Policy::open);
  EXPECT_TRUE(has_rule(report, "no_kernel"));
}

TEST_F(RefereeTest, FindsAnOutputThatDoesNotDependOnTheInputs) {
  const auto report = judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
                            [](std::span<const language::KernelArgument> arguments) {
                              for (int k = 0; k < language::kLength; ++k)
                                language::floats(arguments[1])[k] = 0;
                              return language::LaunchOutcome{.stored = {1}};
                            });
  EXPECT_TRUE(has_rule(report, "constant_output"));
}

TEST_F(RefereeTest, SeesAnInputThatTheKernelChanged) {
  const auto report = judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
                            [](std::span<const language::KernelArgument> arguments) {
                              for (int k = 0; k < language::kLength; ++k) {
                                language::floats(arguments[1])[k] =
                                    language::relu(language::floats(arguments[0])[k]);
                                language::floats(arguments[0])[k] = 0;
                              }
                              return language::LaunchOutcome{.loaded = {0}, .stored = {0, 1}};
                            });
  EXPECT_EQ(error_class(report), "input_mutated");
}

TEST_F(RefereeTest, WantsAnInputChangedWhereTheReferenceChangesIt) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu_", {plan::t(x)}, {x})
      .returns(plan::t(x));
  plan::PlanBuilder in_place(plan::PlanRole::candidate);
  const int own = in_place.tensor({language::kLength});
  const int kernel = in_place.kernel("k", {"*fp32", "*fp32"});
  in_place.input(plan::t(own)).launch(kernel, {plan::t(own), plan::t(own)}).returns(plan::t(own));
  EXPECT_TRUE(judge(task, in_place, language::relu_kernel()).correct);
  EXPECT_EQ(error_class(judge(task, language::candidate_of_kernel(), language::relu_kernel())),
            "state_mismatch");
}

TEST_F(RefereeTest, RefusesAnOutputInTheInputsMemory) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength});
  candidate.input(plan::t(x)).returns(plan::t(x));
  const auto report = judge(language::task_of("aten::alias"), candidate, {});
  EXPECT_TRUE(report.correct);
  const auto copying = judge(language::task_of("aten::clone"), candidate, {});
  EXPECT_EQ(error_class(copying), "output_aliases_input");
}

TEST_F(RefereeTest, TellsOfAnOutputThatTheModuleKeeps) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int y = candidate.tensor({language::kLength}), x = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate
      .aten(plan::Phase::init, "aten::empty.memory_format", {plan::ints({language::kLength})}, {y},
            {language::kOnGpu})
      .input(plan::t(x))
      .launch(kernel, {plan::t(x), plan::t(y)})
      .returns(plan::t(y));
  const auto report = judge(language::task_of("aten::relu"), candidate, language::relu_kernel());
  EXPECT_TRUE(report.correct);
  EXPECT_TRUE(has_rule(report, "output_kept"));
}

TEST_F(RefereeTest, RefusesAnOutputInAWeightsMemory) {
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  for (plan::PlanBuilder* plan : {&task, &candidate}) {
    const int x = plan->tensor({language::kLength}), weight = plan->tensor({language::kLength});
    plan->aten(plan::Phase::init, "aten::randn", {plan::ints({language::kLength})}, {weight},
               {language::kOnGpu})
        .parameter("weight", weight);
    if (plan == &task)
      task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x},
                {language::kOnGpu});
    plan->input(plan::t(x));
    if (plan == &candidate) candidate.returns(plan::t(weight));
  }
  const int copy = task.tensor({language::kLength});
  task.aten(plan::Phase::forward, "aten::clone", {plan::t(1)}, {copy}).returns(plan::t(copy));
  EXPECT_EQ(error_class(judge(task, candidate, {})), "output_aliases_state");
}

TEST_F(RefereeTest, RefusesOutputsThatShareMemoryWhereTheReferencesDoNot) {
  plan::PlanBuilder task = language::task_of("aten::relu");
  const int y = 1, copy = task.tensor({language::kLength});
  task.aten(plan::Phase::forward, "aten::clone", {plan::t(y)}, {copy})
      .returns(plan::Value{plan::Tuple{{plan::t(y), plan::t(copy)}}});
  plan::PlanBuilder same = language::candidate_of_kernel();
  same.returns(plan::Value{plan::Tuple{{plan::t(1), plan::t(1)}}});
  EXPECT_EQ(error_class(judge(task, same, language::relu_kernel())), "output_aliases_output");
  // The outputs may be the two halves of one memory that belongs to forward.
  plan::PlanBuilder halves(plan::PlanRole::candidate);
  const int x = halves.tensor({language::kLength}), both = halves.tensor({2, language::kLength}),
            first = halves.view(both, {language::kLength}, {1}),
            second = halves.view(both, {language::kLength}, {1}, language::kLength);
  const int kernel = halves.kernel("k", {"*fp32", "*fp32"});
  halves.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty.memory_format", {plan::ints({2, language::kLength})},
            {both}, {language::kOnGpu})
      .aten(plan::Phase::forward, "aten::select.int", {plan::t(both), plan::i(0), plan::i(0)},
            {first})
      .aten(plan::Phase::forward, "aten::select.int", {plan::t(both), plan::i(0), plan::i(1)},
            {second})
      .launch(kernel, {plan::t(x), plan::t(first)})
      .launch(kernel, {plan::t(x), plan::t(second)})
      .returns(plan::Value{plan::Tuple{{plan::t(first), plan::t(second)}}});
  const auto honest = judge(task, halves, language::relu_kernel());
  EXPECT_TRUE(honest.correct) << error_message(honest);
  plan::PlanBuilder shared = language::task_of("aten::relu");
  shared.returns(plan::Value{plan::Tuple{{plan::t(y), plan::t(y)}}});
  EXPECT_TRUE(judge(shared, same, language::relu_kernel()).correct);
}

TEST_F(RefereeTest, RefusesAnotherShapeDtypeOrStructure) {
  const auto with_output = [](std::vector<std::int64_t> shape, plan::DType dtype) {
    plan::PlanBuilder candidate(plan::PlanRole::candidate);
    const int x = candidate.tensor({language::kLength});
    const int y = candidate.tensor(shape, dtype);
    candidate.input(plan::t(x))
        .aten(plan::Phase::forward, "aten::zeros", {plan::ints(shape)}, {y},
              {{"dtype", plan::Value{dtype}}})
        .returns(plan::t(y));
    return candidate;
  };
  EXPECT_EQ(error_class(judge(language::task_of("aten::relu"),
                              with_output({language::kLength, 1}, plan::DType::float32), {})),
            "wrong_shape");
  EXPECT_EQ(error_class(judge(language::task_of("aten::relu"),
                              with_output({language::kLength}, plan::DType::float16), {})),
            "wrong_dtype");
  auto pair = with_output({language::kLength}, plan::DType::float32);
  pair.returns(plan::Value{plan::Tuple{{plan::t(1)}}});
  EXPECT_EQ(error_class(judge(language::task_of("aten::relu"), pair, {})), "wrong_structure");
}

// The task is y = x + bias. The bias is a parameter of zeros, as many constructors make it.
plan::PlanBuilder task_with_bias() {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength}), bias = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  task.aten(plan::Phase::init, "aten::zeros", {plan::ints({language::kLength})}, {bias})
      .parameter("bias", bias)
      .aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(x), plan::t(bias)}, {y})
      .returns(plan::t(y));
  return task;
}

plan::PlanBuilder candidate_with_bias(const std::string& name) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), bias = candidate.tensor({language::kLength}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(plan::Phase::init, "aten::zeros", {plan::ints({language::kLength})}, {bias})
      .parameter(name, bias)
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y), plan::t(bias)})
      .returns(plan::t(y));
  return candidate;
}

language::FakeExecutor::Body adding(float share_of_bias) {
  return [share_of_bias](std::span<const language::KernelArgument> a) {
    for (int k = 0; k < language::kLength; ++k)
      language::floats(a[1])[k] =
          language::floats(a[0])[k] + share_of_bias * language::floats(a[2])[k];
    return language::LaunchOutcome{.loaded = {0, 2}, .stored = {1}};
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

// nn.Parameter(torch.zeros(1).expand(n)) makes such a weight.
TEST_F(RefereeTest, AWeightWhoseElementsShareMemoryIsTheCandidatesError) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), one = candidate.tensor({1}),
            bias = candidate.view(one, {language::kLength}, {0}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(plan::Phase::init, "aten::zeros", {plan::ints({1})}, {one})
      .aten(plan::Phase::init, "aten::expand", {plan::t(one), plan::ints({language::kLength})},
            {bias})
      .parameter("bias", bias)
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y), plan::t(bias)})
      .returns(plan::t(y));
  const auto report = judge(task_with_bias(), candidate, adding(1));
  EXPECT_EQ(error_class(report), "overlapping_weight");
  EXPECT_EQ(report.fault, Fault::candidate);
}

TEST_F(RefereeTest, StateWhoseElementsShareMemoryIsPutBack) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), one = candidate.tensor({1}),
            count = candidate.view(one, {language::kLength}, {0}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(plan::Phase::init, "aten::zeros", {plan::ints({1})}, {one})
      .aten(plan::Phase::init, "aten::expand", {plan::t(one), plan::ints({language::kLength})},
            {count})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y), plan::t(count)})
      .returns(plan::t(y));
  float most = 0;
  const auto report = judge(language::task_of("aten::relu"), candidate,
                            [&](std::span<const language::KernelArgument> a) {
                              most = std::max(most, language::floats(a[2])[0] += 1);
                              return language::relu_kernel()(a);
                            });
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_EQ(most, 2 + 4096 + 1) << "of two calls, and one as if 4,096 had come between";
}

TEST_F(RefereeTest, SeesACountThatChangesWhatLaterCallsCompute) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), count = candidate.tensor({1}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(plan::Phase::init, "aten::zeros", {plan::ints({1})}, {count})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y), plan::t(count)})
      .returns(plan::t(y));
  const auto report = judge(
      language::task_of("aten::relu"), candidate, [&](std::span<const language::KernelArgument> a) {
        const bool is_late = (language::floats(a[2])[0] += 1) > 100;
        return is_late ? language::copy_kernel()(a) : language::relu_kernel()(a);
      });
  EXPECT_EQ(error_class(report), "state_carried");
}

TEST_F(RefereeTest, JudgesDropoutInEvaluationModeAndSaysSo) {
  const auto report =
      judge(language::task_of("aten::native_dropout", {plan::f(0.5), plan::Value{true}}),
            language::candidate_of_kernel(), language::copy_kernel());
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(has_rule(report, "judged_in_eval_mode"));
  EXPECT_EQ(
      error_class(judge(language::task_of("aten::rand_like"), language::candidate_of_kernel(), {})),
      "nondeterministic_reference");
}

// The task draws noise of a fixed shape. A candidate that draws the same gets the same numbers, and
// no other candidate passes.
TEST_F(RefereeTest, GivesBothSidesWhatForwardDraws) {
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  const int x = task.tensor({language::kLength}), noise = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x},
            {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::randn", {plan::ints({language::kLength})}, {noise},
            {language::kOnGpu})
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(x), plan::t(noise)}, {y})
      .returns(plan::t(y));
  const int given = candidate.tensor({language::kLength}),
            drawn = candidate.tensor({language::kLength}),
            sum = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.input(plan::t(given))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(given)}, {sum})
      .aten(plan::Phase::forward, "aten::randn", {plan::ints({language::kLength})}, {drawn},
            {language::kOnGpu})
      .launch(kernel, {plan::t(given), plan::t(drawn), plan::t(sum)})
      .returns(plan::t(sum));
  const auto adds = [](std::span<const language::KernelArgument> a) {
    for (int k = 0; k < language::kLength; ++k)
      language::floats(a[2])[k] = language::floats(a[0])[k] + language::floats(a[1])[k];
    return language::LaunchOutcome{.loaded = {0, 1}, .stored = {2}};
  };
  const auto report = judge(task, candidate, adds);
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(has_rule(report, "given_draws"));
  EXPECT_FALSE(has_rule(report, "torch_compute"));
  EXPECT_EQ(error_class(judge(task, language::candidate_of_kernel(), language::copy_kernel())),
            "wrong_value");
}

TEST_F(RefereeTest, RunsConvolutionsWhoseLibraryBringsItsOwnMemory) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({1, 3, 9, 9}), w = task.tensor({4, 3, 3, 3}),
            y = task.tensor({1, 4, 7, 7});
  const std::vector<plan::Value> args = {
      plan::t(x),         plan::t(w),         plan::Value{plan::None{}},
      plan::ints({1, 1}), plan::ints({0, 0}), plan::ints({1, 1}),
      plan::Value{false}, plan::ints({0, 0}), plan::i(1)};
  task.aten(plan::Phase::init, "aten::rand", {plan::ints({4, 3, 3, 3})}, {w})
      .parameter("weight", w)
      .aten(plan::Phase::inputs, "aten::rand", {plan::ints({1, 3, 9, 9})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::convolution", args, {y})
      .returns(plan::t(y));
  plan::PlanBuilder same = task;
  same.plan().role = plan::PlanRole::candidate;
  std::erase_if(same.plan().steps,
                [](const plan::PlanStep& step) { return step.phase == plan::Phase::inputs; });
  const auto report = judge(task, same, {}, Policy::fused);
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_FALSE(has_rule(report, "torch_compute"));
  EXPECT_TRUE(has_rule(report, "no_kernel"));
}

TEST_F(RefereeTest, TurnsAnUnreadablePlanIntoTheCandidatesError) {
  const auto referee = referee_of(language::task_of("aten::relu"), {});
  const auto report = referee->judge({.task_key = "task", .candidate_plan = "{\"format\": 7}"});
  EXPECT_EQ(error_class(report), "bad_plan");
  EXPECT_EQ(report.fault, Fault::candidate);
  EXPECT_FALSE(referee->add_task("other", "{}"));
}

}  // namespace
}  // namespace tritonsmith::gym::referee
