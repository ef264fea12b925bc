#include "eval/metrics.h"

#include <gtest/gtest.h>

namespace tritonsmith::eval {
namespace {

Verdict verdict(bool compiled, bool accepted) {
  Verdict v;
  v.compiled = compiled;
  v.correct = v.accepted = accepted;
  if (!accepted) v.error = VerdictError{compiled ? "wrong_value" : "compile_error", "", "", 0};
  return v;
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
  const std::vector<TaskVerdicts> tasks = {
      {verdict(true, true), {verdict(true, true), verdict(false, false)}},
      {verdict(true, false), {verdict(true, false), verdict(true, false)}}};
  Evaluation evaluation;
  summarise(tasks, evaluation);
  EXPECT_EQ(evaluation.tasks, 2);
  EXPECT_EQ(evaluation.samples, 2);
  EXPECT_DOUBLE_EQ(evaluation.greedy.accepted, 0.5);
  EXPECT_DOUBLE_EQ(evaluation.sampled.compiled, 0.75);
  EXPECT_DOUBLE_EQ(evaluation.sampled.accepted, 0.25);
  EXPECT_DOUBLE_EQ(evaluation.pass_at.at(1), 0.25);
  EXPECT_DOUBLE_EQ(evaluation.pass_at.at(2), 0.5);
  EXPECT_EQ(evaluation.errors.at("wrong_value"), 2);
  EXPECT_EQ(evaluation.errors.at("compile_error"), 1);
}

TEST(Summary, OfNothingIsZero) {
  Evaluation evaluation;
  summarise({}, evaluation);
  EXPECT_EQ(evaluation.tasks, 0);
  EXPECT_DOUBLE_EQ(evaluation.sampled.accepted, 0);
}

}  // namespace
}  // namespace tritonsmith::eval
