#include "train/experience/experience_exchange.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tritonsmith::train {
namespace {

Experience experience() {
  Sample sample{.step = 3, .group = 1, .member = 2, .turn = 1, .task_id = "t", .prompt = "p\xff"};
  sample.completion = {.prompt = {1, 2},
                       .tokens = {3, 4},
                       .logprobs = {-0.1F, std::nextafter(-1.0F, 0.0F)},
                       .text = "not UTF-8: \xfe",
                       .finish = FinishReason::length};
  sample.kernel = "def f(): pass";
  sample.verdict.stage = Stage::compiled;
  sample.verdict.compiled = true;
  const Kernel kernel{.source = sample.kernel,
                      .code_bytes = {4, 9},
                      .code_tokens = {1, 2},
                      .thinking_bytes = {0, 3},
                      .findings = {{.rule = "ambiguous", .line = 7, .message = "two blocks"}}};
  return {.samples = {{.sample = sample, .kernel = kernel}},
          .generate_seconds = 1.25,
          .wait_seconds = 0.1};
}

TEST(ExperienceExchange, KeepsEveryNumberAndEveryByte) {
  const Experience before = experience();
  const auto after = experience_from_bytes(to_bytes(before));
  ASSERT_TRUE(after) << after.error().message;
  ASSERT_EQ(after->samples.size(), 1U);
  const auto& [sample, kernel] = after->samples.front();
  const Sample& original = before.samples.front().sample;
  EXPECT_EQ(sample.prompt, original.prompt);
  EXPECT_EQ(sample.completion.text, original.completion.text);
  EXPECT_EQ(sample.completion.prompt, original.completion.prompt);
  EXPECT_EQ(sample.completion.tokens, original.completion.tokens);
  EXPECT_EQ(sample.completion.logprobs, original.completion.logprobs);
  EXPECT_EQ(sample.completion.finish, FinishReason::length);
  EXPECT_EQ(sample.turn, 1);
  EXPECT_EQ(sample.verdict.stage, Stage::compiled);
  EXPECT_EQ(kernel.source, "def f(): pass");
  EXPECT_EQ(kernel.code_bytes, (Span{4, 9}));
  EXPECT_EQ(kernel.code_tokens, (Span{1, 2}));
  EXPECT_EQ(kernel.thinking_bytes, (Span{0, 3}));
  EXPECT_TRUE(kernel.thinking_tokens.empty());
  EXPECT_EQ(kernel.findings, before.samples.front().kernel.findings);
  EXPECT_EQ(after->generate_seconds, 1.25);
  EXPECT_EQ(after->wait_seconds, 0.1);
}

TEST(ExperienceExchange, RefusesWhatIsDamaged) {
  std::string bytes = to_bytes(experience());
  EXPECT_FALSE(experience_from_bytes(bytes.substr(0, bytes.size() / 2)));
  EXPECT_FALSE(experience_from_bytes(""));
  EXPECT_TRUE(experience_from_bytes(to_bytes({})));
}

}  // namespace
}  // namespace tritonsmith::train
