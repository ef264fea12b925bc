// Tests tasks whose plan lacks forward or whose forward does not replay. A fake stands for the
// Python reference.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

// Answers with relu(x + w) and counts the questions.
struct FakeSource : trial::ReferenceSource {
  tl::expected<trial::ReferenceMode, replay::Stop> prepare() override {
    ++prepared;
    if (refusal) return tl::unexpected(*refusal);
    return mode;
  }
  tl::expected<trial::ReferenceAnswer, replay::Stop> run(
      const trial::ReferenceQuestion& question) override {
    ++asked;
    const at::Tensor &x = question.tensors.at(0), &w = question.tensors.at(1);
    const auto forward = [&](at::ScalarType type) {
      return at::relu((ignores_input ? at::zeros_like(x) : x).to(type) + w.to(type));
    };
    trial::ReferenceAnswer answer{.outputs = plan::t(0), .tensors = {forward(at::kFloat)}};
    answer.exact.resize(1);
    if (question.with_oracle) answer.exact[0] = forward(at::kDouble);
    if (dies_when_asked == asked)
      return tl::unexpected(
          replay::Stop{.error = {.message = "it died"}, .fault = Fault::infrastructure});
    if (changes_weight) answer.changed.push_back({.tensor = 1, .now = w + 1, .exact = {}});
    return answer;
  }
  trial::ReferenceMode mode = trial::ReferenceMode::train;
  std::optional<replay::Stop> refusal;
  bool changes_weight = false, ignores_input = false;
  int dies_when_asked = 0;  // the number of the question at which the source fails, counted from 1
  int prepared = 0, asked = 0;
};

// A task with a drawn input and a drawn weight. The plan does not hold forward.
plan::PlanBuilder task_without_forward() {
  plan::PlanBuilder builder(plan::PlanRole::task);
  const int x = builder.tensor({language::kLength}), w = builder.tensor({language::kLength});
  builder.aten(plan::Phase::init, "aten::randn", {plan::ints({language::kLength})}, {w})
      .parameter("w", w)
      .aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x})
      .input(plan::t(x));
  builder.plan().unplanned = "line 9: data_dependent: .item()";
  return builder;
}

plan::PlanBuilder candidate_with_weight() {
  plan::PlanBuilder builder(plan::PlanRole::candidate);
  const int x = builder.tensor({language::kLength}), w = builder.tensor({language::kLength}),
            y = builder.tensor({language::kLength});
  const int kernel = builder.kernel("k", {"*fp32", "*fp32", "*fp32"});
  builder.aten(plan::Phase::init, "aten::randn", {plan::ints({language::kLength})}, {w})
      .parameter("w", w)
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(w), plan::t(y)})
      .returns(plan::t(y));
  return builder;
}

// The kernel computes y = max(x + w, least).
language::FakeExecutor::Body relu_of_sum(float least) {
  return [least](std::span<const language::KernelArgument> arguments) {
    for (int k = 0; k < language::kLength; ++k)
      language::floats(arguments[2])[k] =
          std::max(language::floats(arguments[0])[k] + language::floats(arguments[1])[k], least);
    return language::LaunchOutcome{.loaded = {0, 1}, .stored = {2}};
  };
}

struct PythonReferenceTest : ::testing::Test {
  RefereeReport judge(const plan::PlanBuilder& task, float least = 0) {
    const auto referee = referee_of(task, relu_of_sum(least));
    referee->use_python_reference(source);
    return referee->judge({.task_key = "task",
                           .candidate_plan = plan_json(candidate_with_weight()),
                           .secret = "secret"});
  }
  FakeSource fake;
  trial::ReferenceSource* source = &fake;
};

TEST_F(PythonReferenceTest, HoldsTheCandidateAgainstWhatTheSourceAnswers) {
  const auto right = judge(task_without_forward());
  EXPECT_TRUE(right.correct) << error_message(right);
  EXPECT_EQ(right.reference, ReferenceKind::python);
  EXPECT_TRUE(has_rule(right, "reference_shell"));
  EXPECT_FALSE(has_rule(right, "constant_output"));
  EXPECT_GE(fake.asked, 3);
  EXPECT_EQ(fake.prepared, 1);
  const auto wrong = judge(task_without_forward(), 0.1F);
  ASSERT_TRUE(wrong.error);
  EXPECT_EQ(wrong.error->error_class, ErrorClass::wrong_value);
  EXPECT_EQ(wrong.fault, Fault::candidate);
}

TEST_F(PythonReferenceTest, LooksAtTheTaskAsAtOneWithAPlan) {
  const auto look = [this](Referee& referee) {
    const RefereeJob job{.task_key = "task", .candidate_plan = "", .secret = "secret"};
    return referee.judge(job);
  };
  const auto new_referee = [this] {
    auto referee = referee_of(task_without_forward(), {});
    referee->use_python_reference(source);
    return referee;
  };
  EXPECT_TRUE(look(*new_referee()).findings.empty());
  EXPECT_EQ(fake.asked, 3) << "two draws refute all, and one has another input";
  fake.ignores_input = true;
  EXPECT_TRUE(has_rule(look(*new_referee()), "task_ignores_input"));
  fake.asked = 0;
  fake.dies_when_asked = 1;
  const auto died = look(*new_referee());
  EXPECT_TRUE(has_rule(died, "task_not_linted"));
  EXPECT_EQ(died.fault, Fault::infrastructure) << "another time it may tell more";
}

TEST_F(PythonReferenceTest, LooksAtATaskWhosePlanDoesNotReplay) {
  plan::PlanBuilder task = task_without_forward();
  task.plan().unplanned.clear();
  const int y = task.tensor({language::kLength});
  task.aten(plan::Phase::forward, "aten::no_such_operator", {plan::t(0)}, {y}).returns(plan::t(y));
  auto referee = referee_of(task, {});
  const RefereeJob job{.task_key = "task", .candidate_plan = "", .secret = "secret"};
  EXPECT_TRUE(has_rule(referee->judge(job), "task_not_linted"));
  referee->use_python_reference(source);
  fake.ignores_input = true;
  const auto report = referee->judge(job);
  EXPECT_TRUE(has_rule(report, "task_ignores_input"));
  EXPECT_FALSE(has_rule(report, "task_not_linted"));
}

TEST_F(PythonReferenceTest, WantsTheStateThatForwardChangesToChange) {
  fake.changes_weight = true;
  const auto report = judge(task_without_forward());
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->error_class, ErrorClass::state_mismatch);
}

TEST_F(PythonReferenceTest, SaysWhenTheTaskCannotBeJudged) {
  fake.refusal = replay::Stop{
      .error = {.error_class = ErrorClass::weights_unbound, .message = "other parameters"}};
  const auto unbound = judge(task_without_forward());
  ASSERT_TRUE(unbound.error);
  EXPECT_EQ(unbound.error->error_class, ErrorClass::weights_unbound);
  EXPECT_EQ(unbound.fault, Fault::none);
  EXPECT_EQ(fake.asked, 0);
  fake.refusal = replay::Stop{.error = {.error_class = ErrorClass::referee_failed},
                              .fault = Fault::infrastructure};
  EXPECT_EQ(judge(task_without_forward()).fault, Fault::infrastructure);
  source = nullptr;
  const auto alone = judge(task_without_forward());
  EXPECT_EQ(alone.error->error_class, ErrorClass::task_failed);
  EXPECT_NE(alone.error->message.find("no Python reference"), std::string::npos);
}

TEST_F(PythonReferenceTest, IsInEvaluationModeWhereTheTaskDrawsInTrainingMode) {
  fake.mode = trial::ReferenceMode::eval;
  const auto report = judge(task_without_forward());
  EXPECT_TRUE(report.correct);
  EXPECT_TRUE(has_rule(report, "judged_in_eval_mode"));
}

TEST_F(PythonReferenceTest, TakesATaskWhoseForwardDoesNotReplay) {
  plan::PlanBuilder task = task_without_forward();
  task.plan().unplanned.clear();
  const int y = task.tensor({language::kLength});
  task.aten(plan::Phase::forward, "aten::no_such_operator", {plan::t(0), plan::t(1)}, {y})
      .returns(plan::t(y));
  const auto report = judge(task);
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_EQ(report.reference, ReferenceKind::python);
  fake.refusal = replay::Stop{
      .error = {.error_class = ErrorClass::task_failed, .message = "nor does its Python"}};
  const auto neither = judge(task);
  ASSERT_TRUE(neither.error);
  EXPECT_EQ(neither.error->error_class, ErrorClass::not_evaluable) << "what the replay said stands";
  EXPECT_EQ(neither.reference, ReferenceKind::replay);
}

}  // namespace
}  // namespace tritonsmith::gym::referee
