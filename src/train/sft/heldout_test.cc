#include "train/sft/heldout.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tritonsmith::train {
namespace {

TEST(UnigramEntropy, IsThatOfTheTrainedTokensAlone) {
  const std::vector<TrainingSequence> sequences = {
      {.tokens = {9, 9, 1, 2}, .prompt_length = 2},
      {.tokens = {9, 1, 8, 8, 1}, .prompt_length = 1, .context = {{.begin = 2, .end = 4}}}};
  // Token 1 occurs three times and token 2 once.
  EXPECT_NEAR(unigram_entropy(sequences), -0.75 * std::log(0.75) - 0.25 * std::log(0.25), 1e-12);
  EXPECT_EQ(unigram_entropy({}), 0);
}

}  // namespace
}  // namespace tritonsmith::train
