#include "train/batch/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tritonsmith::train {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Makes sequences of these tokens. The first `prompt_length` tokens are the prompt.
std::vector<TrainingSequence> sequences_of(std::vector<std::vector<TokenId>> tokens,
                                           std::size_t prompt_length) {
  std::vector<TrainingSequence> all;
  for (auto& each : tokens)
    all.push_back({.tokens = std::move(each), .prompt_length = prompt_length, .context = {}});
  return all;
}

std::vector<TrainingSequence> of_lengths(const std::vector<std::size_t>& lengths) {
  std::vector<std::vector<TokenId>> tokens;
  for (const std::size_t length : lengths) tokens.emplace_back(length, 7);
  return sequences_of(std::move(tokens), 1);
}

TEST(Packing, FillsEachMicroBatchUpToTheBudget) {
  const auto sequences = of_lengths({4, 5, 5, 21, 2, 2});  // the last token is not an input
  const std::vector<std::size_t> members = {0, 1, 2, 3, 4, 5};
  const auto layouts = pack_in_order(sequences, members, {.budget = 8});
  ASSERT_EQ(layouts.size(), 4U);
  EXPECT_THAT(layouts[0].members, ElementsAre(0, 1));
  EXPECT_THAT(layouts[1].members, ElementsAre(2));
  EXPECT_THAT(layouts[2].members, ElementsAre(3));
  EXPECT_THAT(layouts[3].members, ElementsAre(4, 5));
  EXPECT_EQ(layouts[0].tokens, 7);
  EXPECT_TRUE(layouts[0].prefixes.empty());
}

std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(const MicroBatchLayout& layout) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const auto& each : layout.prefixes) pairs.emplace_back(each.sequence, each.length);
  return pairs;
}

TEST(Packing, SharesAllOfAPromptButItsLastToken) {
  const auto sequences = sequences_of({{1, 2, 3, 4, 50, 51},
                                       {1, 2, 3, 4, 50, 61, 62},
                                       {1, 2, 9, 9, 70},
                                       {1, 2, 9, 9, 80, 81},
                                       {5, 2, 3, 4, 90},
                                       {1, 2, 3, 4, 91}},
                                      4);
  const std::vector<std::size_t> members = {0, 1, 2, 3, 4, 5};
  const auto layouts = pack_in_order(sequences, members, {.budget = 100, .shares_prompts = true});
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_THAT(pairs_of(layouts[0]),
              ElementsAre(Pair(0, 0), Pair(0, 3), Pair(0, 2), Pair(2, 3), Pair(0, 0), Pair(0, 3)));
  EXPECT_EQ(layouts[0].tokens, 5 + 3 + 2 + 2 + 4 + 1);
  EXPECT_EQ(layouts[0].shared, 3 + 2 + 3 + 3);
}

TEST(Packing, CountsWhatIsComputedAndSharesWithinAMicroBatch) {
  const auto sequences =
      sequences_of({{1, 2, 3, 4, 50}, {1, 2, 3, 4, 60}, {1, 2, 3, 4, 70}, {1, 2, 3, 4, 80}}, 4);
  const std::vector<std::size_t> members = {3, 2, 1, 0};
  const auto layouts = pack_in_order(sequences, members, {.budget = 6, .shares_prompts = true});
  ASSERT_EQ(layouts.size(), 2U);
  EXPECT_THAT(layouts[0].members, ElementsAre(3, 2, 1));
  EXPECT_THAT(pairs_of(layouts[0]), ElementsAre(Pair(0, 0), Pair(0, 3), Pair(0, 3)));
  EXPECT_THAT(layouts[1].members, ElementsAre(0));
  EXPECT_THAT(pairs_of(layouts[1]), ElementsAre(Pair(0, 0)));
}

TEST(Packing, ATurnThatSawAnotherBeginsWithIt) {
  // The second's prompt holds the first's completion.
  std::vector<TrainingSequence> sequences = sequences_of({{1, 2, 30, 31, 32}}, 2);
  sequences.push_back({.tokens = {1, 2, 30, 31, 32, 4, 40, 41}, .prompt_length = 6, .context = {}});
  const std::vector<std::size_t> members = {0, 1};
  const auto layouts = pack_in_order(sequences, members, {.shares_prompts = true});
  EXPECT_THAT(pairs_of(layouts[0]), ElementsAre(Pair(0, 0), Pair(0, 4)));
}

TEST(Packing, APromptOfOneTokenIsNotShared) {
  const std::vector<std::size_t> members = {0, 1, 2};
  const auto layouts = pack_in_order(of_lengths({3, 3, 5}), members, {.shares_prompts = true});
  EXPECT_EQ(layouts[0].shared, 0);
}

TEST(Packing, RunsOfOnePromptCostItOnce) {
  const auto sequences =
      sequences_of({{1, 2, 50, 51}, {1, 2, 60}, {1, 3, 70, 71, 72}, {1, 2, 80}}, 2);
  const std::vector<std::size_t> members = {0, 1, 2, 3};
  const PromptRuns runs = runs_of_one_prompt(sequences, members);
  EXPECT_THAT(runs.members, ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(runs.tokens, ElementsAre(5, 5, 3));
}

TEST(EpochOrder, VisitsEveryExampleOnceAnEpochInAnotherOrder) {
  EpochOrder order(1, "sft", 50);
  std::vector<std::size_t> first, second;
  for (std::uint64_t position = 0; position < 50; ++position) first.push_back(order.at(position));
  for (std::uint64_t position = 50; position < 100; ++position)
    second.push_back(order.at(position));
  EXPECT_EQ(std::set<std::size_t>(first.begin(), first.end()).size(), 50U);
  EXPECT_EQ(std::set<std::size_t>(second.begin(), second.end()).size(), 50U);
  EXPECT_NE(first, second);
}

TEST(EpochOrder, IsTheSameWhereverOneStarts) {
  EpochOrder straight(1, "sft", 7), resumed(1, "sft", 7);
  std::vector<std::size_t> all;
  for (std::uint64_t position = 0; position < 30; ++position) all.push_back(straight.at(position));
  EXPECT_EQ(resumed.at(23), all[23]);
  EXPECT_EQ(resumed.at(3), all[3]);
}

}  // namespace
}  // namespace tritonsmith::train
