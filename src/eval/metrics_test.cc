#include "eval/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tritonsmith::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

Verdict verdict(bool compiled, bool accepted, std::optional<double> speedup = std::nullopt) {
  Verdict v;
  v.compiled = compiled;
  v.correct = v.accepted = accepted;
  v.speedup = speedup;
  v.stage_ms = {
      {"queue", 9000}, {"capture", 300}, {"compare", 150}, {"referee", 200}, {"total", 9500}};
  if (!accepted)
    v.error = VerdictError{compiled ? ErrorClass::wrong_value : ErrorClass::compile_error};
  return v;
}
Conversation once(Verdict v) { return {.verdicts = {std::move(v)}, .tokens = {10}}; }

Evaluation summary(const std::vector<TaskVerdicts>& tasks) {
  Evaluation evaluation;
  summarise(tasks, evaluation);
  return evaluation;
}

TEST(PassAtK, MatchesTheDefinitionByCounting) {
  EXPECT_DOUBLE_EQ(pass_at_k(8, 0, 8), 0);
  EXPECT_DOUBLE_EQ(pass_at_k(8, 1, 8), 1);
  EXPECT_DOUBLE_EQ(pass_at_k(8, 2, 1), 0.25);
  // 1 - C(3,2)/C(5,2) = 1 - 3/10
  EXPECT_NEAR(pass_at_k(5, 2, 2), 0.7, 1e-12);
  EXPECT_DOUBLE_EQ(pass_at_k(4, 4, 2), 1);
}

TEST(Summary, CountsTasksSamplesAndFailures) {
  const Evaluation e =
      summary({{.id = "level1/a",
                .level = "level1",
                .greedy = once(verdict(true, true)),
                .sampled = {once(verdict(true, true)), once(verdict(false, false))}},
               {.id = "level2/b",
                .level = "level2",
                .greedy = once(verdict(true, false)),
                .sampled = {once(verdict(true, false)), once(verdict(true, false))}}});
  EXPECT_EQ(e.tasks, 2);
  EXPECT_EQ(e.samples, 2);
  EXPECT_DOUBLE_EQ(e.greedy.value().accepted, 0.5);
  EXPECT_DOUBLE_EQ(e.sampled.compiled, 0.75);
  EXPECT_DOUBLE_EQ(e.sampled.accepted, 0.25);
  EXPECT_DOUBLE_EQ(e.pass_at.at(1), 0.25);
  EXPECT_DOUBLE_EQ(e.pass_at.at(2), 0.5);
  EXPECT_EQ(e.errors.at("wrong_value"), 2);
  EXPECT_EQ(e.errors.at("compile_error"), 1);
  EXPECT_TRUE(e.speed.fast.empty()) << "nothing was timed: no claim";
  EXPECT_TRUE(e.by_turn.empty());
  EXPECT_DOUBLE_EQ(e.tokens, 40);
  EXPECT_DOUBLE_EQ(e.judge_seconds, 2);
  ASSERT_THAT(e.levels, SizeIs(2));
  EXPECT_EQ(e.levels[0].level, "level1");
  EXPECT_DOUBLE_EQ(e.levels[0].pass_at_1, 0.5);
  EXPECT_EQ(e.by_task[0].accepted, 1);
  EXPECT_TRUE(e.by_task[0].greedy_accepted);
}

TEST(Summary, OfSpeedIsKernelBenchs) {
  // The accepted samples have speed-ups 1.2 and 4. A wrong sample's speed-up of 9 does not count.
  const Evaluation e =
      summary({{.id = "a",
                .greedy = once(verdict(true, true, 1.2)),
                .sampled = {once(verdict(true, true, 1.2)), once(verdict(true, false, 9))}},
               {.id = "b",
                .greedy = once(verdict(true, true, 4)),
                .sampled = {once(verdict(true, true, 4)), once(verdict(false, false))}}});
  EXPECT_EQ(e.speed.timed, 2);
  EXPECT_NEAR(e.speed.geometric_mean, std::sqrt(4.8), 1e-12);
  EXPECT_DOUBLE_EQ(e.speed.fast.at("1"), 0.5);
  EXPECT_DOUBLE_EQ(e.speed.fast.at("1.2"), 0.25) << "strictly faster";
  EXPECT_DOUBLE_EQ(e.speed.fast.at("2"), 0.25);
  EXPECT_DOUBLE_EQ(e.speed.fast_at.at("1").at(2), 1);
  EXPECT_DOUBLE_EQ(e.speed.fast_at.at("2").at(1), 0.25);
  EXPECT_DOUBLE_EQ(e.speed.fast_at.at("2").at(2), 0.5);
}

TEST(Summary, OfSpeedHoldsTimesOfOneGpu) {
  const auto on = [](const char* gpu, double speedup) {
    Verdict timed = verdict(true, true, speedup);
    timed.environment.gpu = gpu;
    return once(timed);
  };
  std::vector<TaskVerdicts> tasks = {
      {.id = "a", .sampled = {on("H200", 2), on("A100", 9), on("H200", 2)}}};
  EXPECT_EQ(keep_times_of_one_device(tasks), "1 on A100");
  const Evaluation e = summary(tasks);
  EXPECT_EQ(e.speed.timed, 2);
  EXPECT_NEAR(e.speed.geometric_mean, 2, 1e-12);
  EXPECT_DOUBLE_EQ(e.sampled.accepted, 1);
  EXPECT_EQ(keep_times_of_one_device(tasks), "");
}

TEST(Summary, OfSpeedIsAlsoAgainstTheBaselinesThatWereTimed) {
  const auto beside = [](bool accepted, double eager_ms) {
    Verdict timed = verdict(true, accepted, 9);
    timed.time_ms = Timing{.median = 2, .n = 10};
    timed.baselines = {{"eager", {.median = eager_ms, .n = 100}}};
    return timed;
  };
  const Evaluation e = summary({{.id = "a",
                                 .greedy = once(beside(true, 3)),
                                 .sampled = {once(beside(true, 3)), once(beside(false, 30)),
                                             once(verdict(true, false)), once(beside(true, 4))}}});
  ASSERT_THAT(e.speed.fast_against, SizeIs(1));
  EXPECT_DOUBLE_EQ(e.speed.fast_against.at("eager").at("1.2"), 0.5) << "1.5 and 2 times as fast";
  EXPECT_DOUBLE_EQ(e.speed.fast_against.at("eager").at("1.5"), 0.25) << "strictly faster";
  EXPECT_NEAR(e.speed.geometric_mean_against.at("eager"), std::sqrt(1.5 * 2), 1e-12)
      << "of the accepted ones";
}

TEST(Summary, CountsHacksByRule) {
  Verdict hack = verdict(true, false);
  hack.findings = {{"torch_compute", Severity::reject, 3, ""},
                   {"torch_compute", Severity::reject, 4, ""},
                   {"unused", Severity::warn, 1, ""}};
  const Evaluation e = summary(
      {{.id = "a", .greedy = once(hack), .sampled = {once(hack), once(verdict(true, true))}}});
  EXPECT_DOUBLE_EQ(e.hack_rate, 0.5);
  EXPECT_EQ(e.findings.at("torch_compute"), 1);
  EXPECT_EQ(e.findings.count("unused"), 0U);
  EXPECT_EQ(e.by_task[0].hacks, 1);
  EXPECT_THAT(e.by_task[0].findings, ElementsAre(Pair("torch_compute", 1)));
  ASSERT_THAT(e.levels, SizeIs(1));
  EXPECT_THAT(e.levels[0].findings, ElementsAre(Pair("torch_compute", 1)));
  EXPECT_EQ(e.levels[0].samples, 2);
}

TEST(Summary, OfTurnsShowsTheLastAndTheBest) {
  // One conversation finds a fast kernel and loses it. The other is right at its only turn.
  const Conversation first{
      .verdicts = {verdict(true, false), verdict(true, true, 2.5), verdict(true, true, 0.9)},
      .tokens = {10, 20, 30}};
  const Evaluation e =
      summary({{.id = "a", .greedy = first, .sampled = {first, once(verdict(true, true, 1.1))}}});
  ASSERT_THAT(e.by_turn, SizeIs(3));
  EXPECT_DOUBLE_EQ(e.by_turn[0].last.accepted, 0.5);
  EXPECT_DOUBLE_EQ(e.by_turn[2].last.accepted, 1);
  EXPECT_DOUBLE_EQ(e.by_turn[2].last_fast.at("2"), 0);
  EXPECT_DOUBLE_EQ(e.by_turn[2].best_fast.at("2"), 0.5);
  EXPECT_DOUBLE_EQ(e.by_turn[2].last_fast_at.at("2").at(2), 0);
  EXPECT_DOUBLE_EQ(e.by_turn[2].best_fast_at.at("2").at(1), 0.5);
  EXPECT_DOUBLE_EQ(e.by_turn[2].best_fast_at.at("2").at(2), 1);
  EXPECT_DOUBLE_EQ(e.by_turn[1].tokens, (10 + 20 + 10) / 2.0);
  EXPECT_DOUBLE_EQ(e.by_turn[2].judge_seconds, 1);
  EXPECT_DOUBLE_EQ(e.sampled.accepted, 1);
}

TEST(Summary, OfTurnsKnowsWhatSeveralConversationsComeTo) {
  // It is accepted only at the second of three turns, so the last turn lost what was found.
  const Conversation found{
      .verdicts = {verdict(true, false), verdict(true, true), verdict(true, false)},
      .tokens = {10, 10, 10}};
  const Evaluation e =
      summary({{.id = "a", .greedy = found, .sampled = {found, once(verdict(true, false))}}});
  ASSERT_THAT(e.by_turn, SizeIs(3));
  EXPECT_DOUBLE_EQ(e.by_turn[0].best_at.at(2), 0);
  EXPECT_DOUBLE_EQ(e.by_turn[2].last_at.at(2), 0);
  EXPECT_DOUBLE_EQ(e.by_turn[2].best_at.at(1), 0.5);
  EXPECT_DOUBLE_EQ(e.by_turn[2].best_at.at(2), 1);
}

TEST(Summary, LeavesOutDegenerateTasksBesideTheWhole) {
  std::vector<TaskVerdicts> tasks = {
      {.id = "a", .greedy = once(verdict(true, true)), .sampled = {once(verdict(true, true))}},
      {.id = "b", .greedy = once(verdict(true, false)), .sampled = {once(verdict(true, false))}}};
  EXPECT_FALSE(summary(tasks).sound);
  tasks[0].marks = {"task_zeros_pass"};
  const Evaluation e = summary(tasks);
  EXPECT_DOUBLE_EQ(e.sampled.accepted, 0.5);
  ASSERT_TRUE(e.sound);
  EXPECT_EQ(e.sound->tasks, 1);
  EXPECT_DOUBLE_EQ(e.sound->sampled.accepted, 0);
  EXPECT_EQ(e.by_task[0].marks, tasks[0].marks);
  tasks[1].marks = tasks[0].marks;
  ASSERT_TRUE(summary(tasks).sound);
  EXPECT_EQ(summary(tasks).sound->tasks, 0) << "nothing is left, and it says so";
}

TEST(Marks, AreWhatTheLinterHasAgainstATask) {
  const std::vector<Finding> findings = {{"task_zeros_pass", Severity::warn, 0, ""},
                                         {"torch_compute", Severity::reject, 1, ""},
                                         {"task_not_linted", Severity::note, 0, ""},
                                         {"task_zeros_pass", Severity::warn, 0, ""}};
  EXPECT_EQ(marks_in(findings), std::vector<std::string>{"task_zeros_pass"});
}

TEST(Summary, OfNothingIsZero) {
  const Evaluation e = summary({});
  EXPECT_EQ(e.tasks, 0);
  EXPECT_DOUBLE_EQ(e.sampled.accepted, 0);
}

TEST(Level, ComesFromThePathElseTheFamily) {
  EXPECT_EQ(level_of("level1/19_ReLU", "", "s"), "level1");
  EXPECT_EQ(level_of("KernelBench/level2/3_x", "", "s"), "level2");
  EXPECT_EQ(level_of("sealevel/3", "", "s"), "s");
  EXPECT_EQ(level_of("ew3-1", "elementwise", "curriculum"), "elementwise");
}

}  // namespace
}  // namespace tritonsmith::eval
