#include "train/credit/credit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/experience/scoring.h"

namespace tritonsmith::train {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

struct TurnSpec {
  int group = 0, member = 0, turn = 0;
  double reward = 0;
};

// Makes turns of two tokens after a prompt of one token. Each later turn continues the turn before.
std::vector<JudgedSample> turns_of(const std::vector<TurnSpec>& specs) {
  std::vector<JudgedSample> turns;
  for (const TurnSpec& spec : specs) {
    JudgedSample judged;
    Sample& sample = judged.sample;
    sample.group = spec.group;
    sample.member = spec.member;
    sample.turn = spec.turn;
    sample.reward = {.total = spec.reward, .terms = {{"correct", spec.reward, 1}}};
    sample.verdict.accepted = spec.reward > 0;
    sample.completion.prompt = {1};
    if (spec.turn > 0) {
      const Completion& before = turns.back().sample.completion;
      sample.completion.prompt = before.prompt;
      for (const TokenId token : before.tokens) sample.completion.prompt.push_back(token);
      sample.completion.prompt.push_back(9);  // the feedback
    }
    sample.completion.tokens = {2, 3};
    sample.completion.logprobs = {-1, -1};
    turns.push_back(std::move(judged));
  }
  return turns;
}

struct Credited {
  std::vector<double> advantages;
  PolicyBatch batch;
  Rejections rejections;
};

Credited credit(std::vector<JudgedSample> turns, const CreditRules& rules,
                std::vector<char> is_scored = {}) {
  is_scored.resize(turns.size(), 1);
  Credited result{.advantages = {}, .batch = policy_batch(turns), .rejections = {}};
  result.batch.old = result.batch.sampler;
  result.rejections = assign_credit(turns, is_scored, rules, result.batch);
  for (const JudgedSample& judged : turns) result.advantages.push_back(judged.sample.advantage);
  return result;
}

const std::vector<TurnSpec> kTwoSamplesOfTwoTurns = {
    {.member = 0, .turn = 0, .reward = 0},
    {.member = 0, .turn = 1, .reward = 1},
    {.member = 1, .turn = 0, .reward = 1},
    {.member = 1, .turn = 1, .reward = 3},
};
constexpr algorithm::AdvantageOptions kTrloo = {.rule = algorithm::AdvantageRule::trloo};

TEST(PolicyBatch, MakesOneSequenceOfATrajectory) {
  const PolicyBatch batch = policy_batch(turns_of(kTwoSamplesOfTwoTurns));
  ASSERT_THAT(batch.sequences, SizeIs(2));
  EXPECT_THAT(batch.sequences[0].tokens, ElementsAre(1, 2, 3, 9, 2, 3));
  EXPECT_EQ(batch.sequences[0].prompt_length, 1U);
  EXPECT_THAT(batch.sequences[0].context, ElementsAre(Span{3, 4}));
  EXPECT_EQ(batch.sequences[0].trained(), 4);
  EXPECT_THAT(batch.sequence_of, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(batch.segments_of(1), (Span{2, 4}));
}

TEST(PolicyBatch, BeginsAnewWhereTheContextWasManaged) {
  auto turns = turns_of(kTwoSamplesOfTwoTurns);
  turns[1].sample.completion.prompt = {1, 7, 7};
  const PolicyBatch batch = policy_batch(turns);
  ASSERT_THAT(batch.sequences, SizeIs(3));
  EXPECT_THAT(batch.sequences[1].tokens, ElementsAre(1, 7, 7, 2, 3));
  EXPECT_THAT(batch.sequence_of, ElementsAre(0, 1, 2, 2));
}

TEST(Credit, ComparesEachTurnWithTheSameTurnOfTheOthers) {
  // The returns are 1, 1 and 4, 3. Turn by turn, 1 meets 4 and 1 meets 3.
  const Credited result = credit(turns_of(kTwoSamplesOfTwoTurns), {.advantage = kTrloo});
  EXPECT_THAT(result.advantages, ElementsAre(-3, -2, 3, 2));
  EXPECT_THAT(result.batch.advantages[2], ElementsAre(3, 3));
  EXPECT_THAT(
      credit(turns_of(kTwoSamplesOfTwoTurns), {.advantage = kTrloo, .discount = 0}).advantages,
      ElementsAre(-1, -2, 1, 2));
}

TEST(Credit, LeavesOutWhatHasNoReward) {
  const Credited result =
      credit(turns_of({{.member = 0, .reward = 1}, {.member = 1, .reward = 5}, {.member = 2}}),
             {.advantage = kTrloo}, {1, 0, 1});
  EXPECT_THAT(result.advantages, ElementsAre(1, 0, -1));
  EXPECT_THAT(result.batch.counts, ElementsAre(1, 0, 1));
  EXPECT_EQ(result.rejections.unscored, 1);
}

TEST(Credit, RejectsLazyKernelsBeforeComparing) {
  auto turns = turns_of({{.member = 0, .reward = 1}, {.member = 1, .reward = 1}, {.member = 2}});
  turns[0].sample.verdict.coverage = 0.01;
  turns[1].sample.verdict.coverage = 0.9;
  const Credited result =
      credit(turns, {.advantage = kTrloo, .profile = algorithm::ProfileRejection{.begin = 0.3}});
  EXPECT_THAT(result.advantages, ElementsAre(0, 1, -1)) << "1 against 0 alone";
  EXPECT_THAT(result.batch.counts, ElementsAre(0, 1, 1));
  EXPECT_EQ(result.rejections.profile, 1);
}

TEST(Credit, OfARejectedTurnDoesNotReachTheTurnBefore) {
  auto turns = turns_of(kTwoSamplesOfTwoTurns);
  turns[3].sample.verdict.coverage = 0.01;  // its reward of 3 is not earned
  const Credited result =
      credit(turns, {.advantage = kTrloo, .profile = algorithm::ProfileRejection{}});
  EXPECT_THAT(result.advantages, ElementsAre(0, 0, 0, 0)) << "returns 1 and 1; the last is alone";
}

TEST(Credit, DrawsTheRampFromTheSeed) {
  std::vector<TurnSpec> specs;
  for (int member = 0; member < 400; ++member) specs.push_back({.member = member, .reward = 1});
  auto turns = turns_of(specs);
  for (auto& judged : turns) judged.sample.verdict.coverage = 0.35;
  const CreditRules rules{.profile = algorithm::ProfileRejection{}, .seed = 7};
  const auto rejected = credit(turns, rules).rejections.profile;
  EXPECT_GT(rejected, 150);
  EXPECT_LT(rejected, 250);
  EXPECT_EQ(credit(turns, rules).rejections.profile, rejected);
}

TEST(Credit, RejectsTrajectoriesThatTheSamplerTookForOthers) {
  auto turns = turns_of(kTwoSamplesOfTwoTurns);
  for (float& logprob : turns[1].sample.completion.logprobs) logprob = -1.5F;  // of member 0
  PolicyBatch batch = policy_batch(turns);
  batch.old.assign(4, {-1, -1});
  const std::vector<char> is_scored(4, 1);
  CreditRules rules{.advantage = kTrloo, .mismatch = {.band_low = 0.9, .band_high = 1.1}};
  assign_credit(turns, is_scored, rules, batch);
  EXPECT_THAT(batch.counts, ElementsAre(0, 0, 1, 1)) << "the whole trajectory";
  rules.mismatch = {.veto = 0.9};
  batch.sampler[2] = {-0.5F, -1};  // the trainer gives a token a lower probability: ratio 0.6
  assign_credit(turns, is_scored, rules, batch);
  EXPECT_THAT(batch.counts, ElementsAre(1, 1, 0, 1)) << "the turn alone";
}

TEST(Credit, OfTruncatedCompletionsCountsInTheirGroupAlone) {
  auto turns = turns_of({{.member = 0, .reward = 1}, {.member = 1, .reward = 0}});
  turns[1].sample.completion.finish = FinishReason::length;
  const Credited result = credit(turns, {.advantage = kTrloo, .mask_truncated = true});
  EXPECT_THAT(result.advantages, ElementsAre(1, -1));
  EXPECT_THAT(result.batch.counts, ElementsAre(1, 0));
}

TEST(Credit, OfThinkingAndCodeApart) {
  // With speeds 2 and 0 and correctness 1 and 1, the thinking gets credit and the code does not.
  auto turns = turns_of({{.member = 0}, {.member = 1}});
  for (auto& judged : turns) {
    judged.kernel.thinking_tokens = {.begin = 0, .end = 1};
    judged.sample.reward = {.total = 1, .terms = {{"correct", 1, 1}, {"speed", 0, 0.5}}};
  }
  turns[0].sample.reward = {.total = 2, .terms = {{"correct", 1, 1}, {"speed", 2, 0.5}}};
  const algorithm::AdvantageOptions mean_only{.rule = algorithm::AdvantageRule::mean_only};
  const Credited result = credit(
      turns, {.advantage = mean_only, .kind = CreditKind::hierarchical, .thinking_alpha = 0.25});
  EXPECT_THAT(result.batch.advantages[0], ElementsAre(0.125F, 0));
  EXPECT_THAT(result.batch.advantages[1], ElementsAre(-0.125F, 0));
  EXPECT_THAT(result.advantages, Each(0.0)) << "the record is of the code";
  const Credited uniform = credit(turns, {.advantage = mean_only});
  EXPECT_THAT(uniform.batch.advantages[0], Each(0.5F));
}

TEST(Scoring, FindsGroupsThatTeach) {
  const auto samples = turns_of({{.group = 0, .member = 0, .reward = 1},
                                 {.group = 0, .member = 1, .reward = 1},
                                 {.group = 3, .member = 0, .reward = 1},
                                 {.group = 3, .member = 1, .reward = 1.0001}});
  const auto groups = groups_of(samples);
  ASSERT_THAT(groups, ElementsAre(Span{0, 2}, Span{2, 4}));
  const std::vector<char> all(2, 1), one = {1, 0};
  const auto second = std::span(samples).subspan(2, 2);
  EXPECT_FALSE(has_variance(std::span(samples).first(2), all, 0));
  EXPECT_TRUE(has_variance(second, all, 0));
  EXPECT_FALSE(has_variance(second, all, 1e-3));
  EXPECT_FALSE(has_variance(second, one, 0));
}

TEST(Scoring, PunishesOverlongCompletions) {
  auto samples = turns_of({{.member = 0}, {.member = 1}});
  samples[1].sample.completion.tokens.assign(90, 2);
  const ScoringRules rules{.overlong_weight = 0.5, .overlong_cache = 20, .max_new_tokens = 100};
  score_samples(samples, rules, {});
  EXPECT_EQ(samples[0].sample.reward.terms.back().name, "overlong");
  EXPECT_EQ(samples[0].sample.reward.terms.back().value, 0);
  EXPECT_DOUBLE_EQ(samples[1].sample.reward.terms.back().value, -0.5);
  EXPECT_DOUBLE_EQ(samples[1].sample.reward.total, samples[0].sample.reward.total - 0.25);
}

}  // namespace
}  // namespace tritonsmith::train
