// compare/compare_similarity.py tests that the similarity equals difflib's.
#include <gtest/gtest.h>

#include "reward/similarity.h"
#include "reward/terms.h"

namespace tritonsmith::reward {
namespace {

Kernel good_kernel() {
  return {.source = "x = 1\n", .code_bytes = {40, 46}, .thinking_bytes = {10, 20}};
}
Verdict reached(bool compiled, bool accepted) {
  Verdict verdict;
  verdict.compiled = compiled;
  verdict.correct = verdict.accepted = accepted;
  return verdict;
}
double value_of(const Reward& reward, std::string_view name) {
  for (const RewardTerm& term : reward.terms)
    if (term.name == name) return term.value;
  return -1;
}
double weight_of(const Reward& reward, std::string_view name) {
  for (const RewardTerm& term : reward.terms)
    if (term.name == name) return term.weight;
  return -1;
}
constexpr RewardConfig kConfig;

TEST(Score, SumsItsTerms) {
  const auto reward = score({good_kernel(), reached(true, true)}, kConfig, {});
  ASSERT_TRUE(reward);
  EXPECT_DOUBLE_EQ(reward->total, kConfig.format + kConfig.compiled + kConfig.correct);
}

TEST(Score, IsFiniteWhateverAClientsVerdictSays) {
  Verdict verdict = reached(true, true);
  verdict.coverage = 1e308;
  verdict.speedup = 1e308;
  RewardConfig config;
  Settings settings;
  for (const char* name :
       {"format", "similarity", "compiled", "correct", "speed", "speed_cap", "coverage"})
    settings.emplace_back(name, 1e6);
  ASSERT_TRUE(apply_settings(config, settings, "weights"));
  const auto reward = score({good_kernel(), verdict}, config, {});
  ASSERT_TRUE(reward);
  EXPECT_LT(reward->total, 1e13);
  for (const auto& [name, value] : settings)
    EXPECT_FALSE(apply_settings(config, {{name, 1e7}}, "weights")) << name;
}

TEST(Score, PaysForExecutionOnlyWhenAccepted) {
  Verdict verdict = reached(true, false);
  verdict.correct = true;  // correct, but not accepted
  EXPECT_EQ(value_of(*score({good_kernel(), verdict}, kConfig, {}), "correct"), 0);
}

TEST(Score, PaysNothingForCompilingWhatCheats) {
  Verdict verdict = reached(true, false);
  verdict.findings = {{"no_launch", Severity::reject, 1, ""}};
  EXPECT_EQ(value_of(*score({good_kernel(), verdict}, kConfig, {}), "compiled"), 0);
  verdict.findings[0].severity = Severity::warn;
  EXPECT_EQ(value_of(*score({good_kernel(), verdict}, kConfig, {}), "compiled"), 1);
}

TEST(Score, PaysHacksOnlyWhereItIsToldTo) {
  Verdict hack = reached(true, false);
  hack.correct = true;
  hack.findings = {{"token_kernel", Severity::reject, 0, ""}};
  RewardConfig config = kConfig;
  config.earning = Earning::correct;
  EXPECT_EQ(value_of(*score({good_kernel(), hack}, config, {}), "correct"), 1);
  EXPECT_EQ(value_of(*score({good_kernel(), hack}, config, {}), "compiled"), 1);
  hack.correct = false;
  EXPECT_EQ(value_of(*score({good_kernel(), hack}, config, {}), "correct"), 0);
}

TEST(Score, IsNotThereForFaultsOfOurs) {
  Verdict verdict = reached(false, false);
  verdict.fault = Fault::infrastructure;
  EXPECT_FALSE(score({good_kernel(), verdict}, kConfig, {}));
  verdict.fault = Fault::candidate;
  EXPECT_TRUE(score({good_kernel(), verdict}, kConfig, {}));
}

TEST(Score, CountsSimilarityOnlyWhereThereIsAReference) {
  RewardConfig config;
  config.similarity = 0.5;
  EXPECT_EQ(value_of(*score({good_kernel(), reached(false, false)}, config, {}), "similarity"), -1);
  const auto reward = score({good_kernel(), reached(false, false), "x = 1\n"}, config, {});
  EXPECT_EQ(value_of(*reward, "similarity"), 1);
}

TEST(Score, PaysSpeedUpToTheCapAndCoverageOfAcceptedKernelsOnly) {
  // Dr. Kernel: 0.5 correct + 0.5 min(speed-up, 3) + 0.5 coverage.
  const RewardConfig config{
      .format = 0, .compiled = 0, .correct = 0.5, .speed = 0.5, .coverage = 0.5};
  Verdict verdict = reached(true, true);
  verdict.speedup = 1.5;
  verdict.coverage = 0.8;
  EXPECT_DOUBLE_EQ(score({good_kernel(), verdict}, config, {})->total, 0.5 + 0.75 + 0.4);
  verdict.speedup = 40;
  EXPECT_DOUBLE_EQ(score({good_kernel(), verdict}, config, {})->total, 0.5 + 1.5 + 0.4);
  verdict.accepted = false;
  EXPECT_EQ(score({good_kernel(), verdict}, config, {})->total, 0);
  EXPECT_EQ(score({good_kernel(), reached(true, true)}, config, {})->total, 0.5) << "not timed";
}

TEST(Format, WantsThinkingThenAnswer) {
  EXPECT_EQ(format_value(good_kernel()), 1);
  Kernel no_answer = good_kernel();
  no_answer.findings = {{"no_answer", Severity::note, 0, ""}};
  EXPECT_EQ(format_value(no_answer), 0.5);
  Kernel no_thinking = good_kernel();
  no_thinking.thinking_bytes = {};
  EXPECT_EQ(format_value(no_thinking), 0);
}

TEST(Stages, StopPayingWhenSaturated) {
  StageState state;
  const std::vector<Reward> all_compile(
      8, *score({good_kernel(), reached(true, false)}, kConfig, state));
  EXPECT_EQ(weight_of(all_compile[0], "compiled"), kConfig.compiled);
  for (int step = 0; step < 3; ++step) state.observe(all_compile, kConfig);
  EXPECT_DOUBLE_EQ(state.compiled_rate(), 1);
  const auto reward = score({good_kernel(), reached(true, true)}, kConfig, state);
  EXPECT_EQ(weight_of(*reward, "compiled"), 0);
  EXPECT_EQ(weight_of(*reward, "format"), 0);
  EXPECT_EQ(weight_of(*reward, "correct"), kConfig.correct) << "the last stage always pays";
}

TEST(Stages, PayAgainWhenUnlearnt) {
  StageState state;
  const std::vector<Reward> good(4, *score({good_kernel(), reached(true, false)}, kConfig, state));
  const std::vector<Reward> bad(4, *score({Kernel{}, reached(false, false)}, kConfig, state));
  for (int step = 0; step < 50; ++step) state.observe(good, kConfig);
  for (int step = 0; step < 50; ++step) state.observe(bad, kConfig);
  EXPECT_EQ(pay_factor(state.compiled_rate(), kConfig), 1);
}

TEST(Stages, FadeOutOnAStraightLine) {
  const RewardConfig config{.saturation_begin = 0.5, .saturation_end = 0.9};
  EXPECT_EQ(pay_factor(0.5, config), 1);
  EXPECT_DOUBLE_EQ(pay_factor(0.7, config), 0.5);
  EXPECT_EQ(pay_factor(0.9, config), 0);
}

TEST(Stages, ComeBackFromTheirJsonBitForBit) {
  StageState state;
  std::vector<Reward> rewards(3, *score({good_kernel(), reached(true, false)}, kConfig, state));
  rewards.push_back(*score({Kernel{}, reached(false, false)}, kConfig, state));
  for (int step = 0; step < 7; ++step) state.observe(rewards, kConfig);
  const auto again = stage_state_from_json(*parse_json(to_line(to_json(state))));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, state);
}

TEST(Similarity, KnowsTheAnswersOfDifflib) {
  EXPECT_EQ(similarity("", ""), 1.0);
  EXPECT_EQ(similarity("abc", ""), 0.0);
  EXPECT_EQ(similarity("abcd", "bcde"), 0.75);
  EXPECT_EQ(similarity("qabxcd", "abycdf"), 2.0 * 4 / 12);
  EXPECT_EQ(similarity("aé", "é"), 2.0 / 3) << "characters, not bytes";
}

TEST(Similarity, LetsFrequentCharactersExtendButNotBeginAMatch) {
  const std::string many(300, 'a');
  EXPECT_EQ(similarity("x" + many, many), 0.0)
      << "all of b is too frequent, and nothing matches at the start";
  EXPECT_EQ(similarity(many + "x", many), 600.0 / 601);
}

}  // namespace
}  // namespace tritonsmith::reward
