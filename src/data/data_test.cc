#include <gtest/gtest.h>

#include <cmath>

#include "data/failure.h"
#include "data/sample.h"
#include "data/step.h"
#include "data/task.h"

namespace tritonsmith {
namespace {

Verdict full_verdict() {
  Verdict verdict;
  verdict.task_id = "t";
  verdict.stage = Stage::timed;
  verdict.backend = Backend::replay;
  verdict.policy = Policy::fused;
  verdict.comparison = Comparison::allclose;
  verdict.compiled = verdict.correct = verdict.accepted = true;
  verdict.findings = {{"rule", Severity::warn, 3, "why"}};
  verdict.error = VerdictError{ErrorClass::wrong_value, "message", "x = 1", 4};
  verdict.numerics = Numerics{1e-6, 2e-6, 3, 4e-4};
  verdict.time_ms = Timing{1, 2, 3, 4, 5, 0.5, 1.5};
  verdict.reference_ms = Timing{2, 3, 4, 5, 6};
  verdict.speedup = 2.0;
  verdict.coverage = 0.5;
  verdict.kernels = {{"k", 1, 2.5, 32, 0, 1024}};
  verdict.aten = {{"aten::mm", 2, 7.0}};
  verdict.stage_ms = {{"queue", 1.5}, {"capture", 80}};
  verdict.environment = {"sm_90",           "H200", "580", "2.11.0", "3.6.0", {"uid", "seccomp"},
                         Clocks{1980, 3201}};
  verdict.fault = Fault::none;
  verdict.from_store = true;
  return verdict;
}

TEST(Verdict, ComesBackFromItsJsonUnchanged) {
  const Json json = to_json(full_verdict());
  const auto again = verdict_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
}

// A record without a comparison was judged by the budget.
TEST(Verdict, WasReachedByTheBudgetWhereItDoesNotSay) {
  Json json = to_json(full_verdict());
  json.erase("comparison");
  const auto old = verdict_from_json(json);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->comparison, Comparison::budget);
}

TEST(Verdict, ReadsTheToleranceExtensionByItsOldName) {
  Json json = to_json(full_verdict());
  json["numerics"]["leeway"] = json["numerics"]["tolerance_extension"];
  json["numerics"].erase("tolerance_extension");
  const auto old = verdict_from_json(json);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->numerics->tolerance_extension, 4e-4);
}

TEST(Verdict, RefusesAnUnknownStage) {
  Json json = to_json(Verdict{});
  json["stage"] = "nowhere";
  EXPECT_NE(verdict_from_json(json).error().message.find("'nowhere' is none of"),
            std::string::npos);
}

TEST(VerdictError, HasTheNameOfItsEnumeratorInJson) {
  for (const auto& [error_class, name] : enum_names<ErrorClass>) {
    const Json json = to_json(VerdictError{.error_class = error_class});
    EXPECT_EQ(json["class"], name);
    const auto again = error_from_json(json);
    ASSERT_TRUE(again) << name;
    EXPECT_EQ(again->error_class, error_class) << name;
  }
}

TEST(Failure, HasWordsForEachClassOfError) {
  for (const auto& [error_class, name] : enum_names<ErrorClass>) {
    const std::string_view words = words_for(error_class);
    EXPECT_FALSE(words.empty()) << name;
    EXPECT_EQ(words.find('_'), std::string_view::npos) << name;
  }
  EXPECT_EQ(words_for(ErrorClass::wrong_value), "wrong values");
}

TEST(VerdictError, KeepsTheNameOfAClassThatThisVersionDoesNotKnow) {
  Json json = to_json(full_verdict());
  json["error"]["class"] = "melted_chip";
  const auto foreign = verdict_from_json(json);
  ASSERT_TRUE(foreign) << foreign.error().message;
  EXPECT_EQ(foreign->error->error_class, ErrorClass::unknown);
  EXPECT_EQ(class_name(*foreign->error), "melted_chip");
  EXPECT_EQ(to_json(*foreign), json);
}

TEST(Sample, ComesBackFromItsJsonUnchanged) {
  Sample sample{.step = 3, .group = 1, .member = 2, .task_id = "t", .prompt = "p"};
  sample.completion = {{1, 2}, {3, 4}, {-0.5F, -0.25F}, "text", FinishReason::length};
  sample.verdict = full_verdict();
  sample.reward = {0.7, {{"format", 1, 0.1}, {"correct", 1, 0.6}}};
  const Json json = to_json(sample);
  const auto again = sample_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
}

TEST(Sample, KeepsTheUsageAndReasoningOfACompletionWithoutTokens) {
  Sample sample{.task_id = "t", .prompt = "p"};
  sample.completion = {.text = "x", .finish = FinishReason::filtered, .reasoning = "because"};
  sample.completion.usage = {
      .prompt_tokens = 9, .cached_prompt_tokens = 4, .completion_tokens = 7, .reasoning_tokens = 5};
  const auto again = sample_from_json(to_json(sample));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->completion.usage, sample.completion.usage);
  EXPECT_EQ(again->completion.reasoning, "because");
  EXPECT_EQ(again->completion.finish, FinishReason::filtered);
}

TEST(Sample, CountsTheTokensOfACompletionThatHasThem) {
  Sample sample{.task_id = "t", .prompt = "p"};
  sample.completion = {.prompt = {1, 2}, .tokens = {3, 4, 5}, .logprobs = {-1, -1, -1}};
  const auto again = sample_from_json(to_json(sample));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->completion.usage, (Usage{.prompt_tokens = 2, .completion_tokens = 3}));
}

TEST(Task, ComesBackFromItsJsonUnchanged) {
  const Task task{.id = "a",
                  .suite = "s",
                  .source = "import torch",
                  .instruction = "relu",
                  .family = "elementwise",
                  .composition = "relu(x)",
                  .scale = TaskScale::gpu,
                  .split = TaskSplit::heldout,
                  .tolerance = 1e-4};
  const auto again = task_from_json(to_json(task));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(task));
}

TEST(StepRecord, ComesBackFromItsJsonWithoutWhatIsNoNumber) {
  const StepRecord record{
      .step = 7, .phase = "rl", .metrics = {{"loss", 0.5}, {"odd", std::nan("")}, {"x/y", -2}}};
  const auto again = step_from_json(to_json(record));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again,
            (StepRecord{.step = 7, .phase = "rl", .metrics = {{"loss", 0.5}, {"x/y", -2}}}));
  EXPECT_EQ(metric_of(*again, "x/y"), -2);
  EXPECT_EQ(metric_of(*again, "odd"), std::nullopt);
}

TEST(PositionOfAnError, HasOneFormAndIsReportedOnce) {
  VerdictError error{.error_class = ErrorClass::syntax_error,
                     .message = "this is not Python",
                     .excerpt = "def f(:",
                     .line = 7};
  EXPECT_EQ(position_words(error), "line 7: def f(:");
  EXPECT_EQ(position_words(error, "relu.py"), "relu.py, line 7: def f(:");
  EXPECT_EQ(placed_message(error), "this is not Python (line 7: def f(:)");
  error.message = "reads 3 elements past `x` at line 7 (element 22 of 20)";
  EXPECT_EQ(placed_message(error), error.message);
  error.message = "it stands beside line 71";
  EXPECT_EQ(placed_message(error), "it stands beside line 71 (line 7: def f(:)");
  error.line = 0;
  EXPECT_EQ(placed_message(error), error.message);
  EXPECT_EQ(position_words(error, "relu.py"), "");
}

}  // namespace
}  // namespace tritonsmith
