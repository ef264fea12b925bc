#include "eval/conversation_results.h"

#include <gtest/gtest.h>

namespace tritonsmith::eval {
namespace {

Verdict judged_as(bool accepted, std::optional<double> speedup = {}) {
  Verdict verdict;
  verdict.accepted = accepted;
  verdict.speedup = speedup;
  return verdict;
}

TEST(ConversationResults, KeepsLastAndBestApart) {
  // The first loses its kernel in its second turn, the second ends early, the third never has one.
  const std::vector<Conversation> conversations = {
      {.verdicts = {judged_as(true, 2.0), judged_as(false), judged_as(true, 1.5)}},
      {.verdicts = {judged_as(true, 1.1)}},
      {.verdicts = {judged_as(false), judged_as(false, 9.0)}}};
  const ConversationResults first = results_after(1, conversations);
  EXPECT_EQ(first.last, 2);
  EXPECT_EQ(first.best, 2);
  EXPECT_EQ(first.last_speedup, 2.0);
  const ConversationResults second = results_after(2, conversations);
  EXPECT_EQ(second.last, 1);
  EXPECT_EQ(second.best, 2);
  EXPECT_EQ(second.last_speedup, 1.1) << "what is wrong is not fast";
  EXPECT_EQ(second.best_speedup, 2.0);
  EXPECT_EQ(results_after(3, conversations).last_speedup, 1.5);
}

TEST(ConversationResults, SaysNothingOfSpeedWithoutTimings) {
  const std::vector<Conversation> conversations = {{.verdicts = {judged_as(true)}}, {}};
  const ConversationResults results = results_after(1, conversations);
  EXPECT_EQ(results.best, 1);
  EXPECT_EQ(results.best_speedup, std::nullopt);
}

}  // namespace
}  // namespace tritonsmith::eval
