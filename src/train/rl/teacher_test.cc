#include "train/rl/teacher.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "train/rl/testing/rl_fixture.h"

namespace tritonsmith::train {
namespace {

using ::testing::HasSubstr;

// A tiny student and a teacher of the same tokenizer, of other weights and another shape.
class TeacherTest : public RlTest {
 protected:
  void SetUp() override {
    RlTest::SetUp();
    make_tiny_model(path("teacher"), 8);
    config_.teacher.path = path("teacher").string();
  }
};

TEST_F(TeacherTest, GivesTheGradientOfTheReverseKl) {
  auto learner = Learner::start(path("model"), c10::kCPU);
  ASSERT_TRUE(learner);
  const auto loaded = load_teacher(config_.teacher, config_.model, c10::kCPU);
  ASSERT_TRUE(loaded && *loaded);
  const model::Transformer& teacher = **loaded;
  // Each token of the vocabulary as the one answer to a prompt: nothing is left to chance.
  const auto vocabulary = static_cast<std::size_t>(learner->model().config().vocab_size);
  PolicyBatch batch;
  for (std::size_t id = 0; id < vocabulary; ++id) {
    batch.sequences.push_back({.tokens = {'a', 'b', static_cast<TokenId>(id)}, .prompt_length = 2});
    batch.sequence_of.push_back(id);
    batch.sampler.push_back({0.0F});
  }
  batch.counts.assign(vocabulary, 1);
  batch.sampler = segment_logprobs(learner->model(), batch, 1.0, {});
  batch.advantages.assign(vocabulary, {7.0F});  // the teacher alone counts
  const TokenColumn known = segment_logprobs(teacher, batch, 1.0, {});
  const TeacherKl kl = apply_teacher(config_.teacher, known, batch);
  EXPECT_EQ(kl.tokens, static_cast<std::int64_t>(vocabulary));
  // The student draws each token with its probability; the loss is the mean over all.
  for (std::size_t id = 0; id < vocabulary; ++id)
    batch.advantages[id][0] *= static_cast<float>(vocabulary) * std::exp(batch.sampler[id][0]);
  std::vector<std::size_t> members(vocabulary);
  std::iota(members.begin(), members.end(), std::size_t{0});
  set_policy_gradient(*learner, batch, members, {});
  const at::Tensor found = learner->parameters().gradients().clone();

  learner->zero_gradients();
  const auto whole = make_micro_batches(batch.sequences, members, {.budget = 1 << 20}, c10::kCPU);
  ASSERT_EQ(whole.size(), 1U);
  const at::Tensor student = forward_tokens(learner->model(), whole[0], 1.0).logprob;  // [V]
  std::vector<float> other;
  for (const std::size_t member : whole[0].members) other.push_back(known[member][0]);
  (student.exp() * (student - at::tensor(other))).sum().backward();
  const at::Tensor expected = learner->parameters().gradients();
  EXPECT_GT(expected.norm().item<double>(), 1e-3);
  EXPECT_LT((found - expected).abs().max().item<double>(), 1e-5 * expected.norm().item<double>());
}

TEST_F(TeacherTest, AddsItsAdvantagesToThoseOfRewards) {
  PolicyBatch batch;
  batch.sampler = {{-1.0F, -2.0F}, {-3.0F}};
  batch.advantages = {{0.5F, 0.5F}, {-1.0F}};
  batch.counts = {1, 0};
  const TokenColumn known = {{-2.0F, -1.0F}, {-1.0F}};
  TeacherSection teacher{.path = "t", .weight = 0.5, .alone = false};
  const TeacherKl kl = apply_teacher(teacher, known, batch);
  EXPECT_EQ(batch.advantages, (TokenColumn{{0.0F, 1.0F}, {0.0F}}));
  EXPECT_EQ(kl.tokens, 2) << "a masked turn is not counted";
  EXPECT_DOUBLE_EQ(kl.sum, 0.0);
  // The trainer's log-probabilities at rollout time come before the sampler's.
  batch.old = {{-2.0F, -1.0F}, {-1.0F}};
  teacher.alone = true;
  apply_teacher(teacher, known, batch);
  EXPECT_EQ(batch.advantages, (TokenColumn{{0.0F, 0.0F}, {0.0F}}));
}

TEST_F(TeacherTest, DrawsTheStudentNearerWhateverTheJudgeSays) {
  config_.run.steps = 60;
  gym::api::FakeJudge judge([](const gym::api::JudgeJob&) {
    return gym::api::failed_verdict(Stage::compiled, ErrorClass::wrong_value);
  });
  const auto summary = run_with(judge);
  ASSERT_TRUE(summary) << summary.error().message;
  // The log-probabilities of what was written in the first step, before and after.
  PolicyBatch batch;
  for (const Sample& sample : samples()) {
    if (sample.step > 1) break;
    TrainingSequence sequence{.tokens = sample.completion.prompt,
                              .prompt_length = sample.completion.prompt.size()};
    ASSERT_GT(sequence.prompt_length, 0U);
    sequence.tokens.insert(sequence.tokens.end(), sample.completion.tokens.begin(),
                           sample.completion.tokens.end());
    batch.sequences.push_back(std::move(sequence));
  }
  const auto logprobs = [&](const fs::path& directory) {
    return token_logprobs(*model::load_model(directory, c10::kCPU), batch.sequences, 1.0, {});
  };
  const TokenColumn teacher_logprobs = logprobs(path("teacher"));
  const auto distance = [&](const TokenColumn& student) {
    double sum = 0, count = 0;
    for (std::size_t s = 0; s < teacher_logprobs.size(); ++s)
      for (std::size_t t = 0; t < teacher_logprobs[s].size(); ++t, ++count)
        sum += std::abs(teacher_logprobs[s][t] - student[s][t]);
    return sum / count;
  };
  const double before = distance(logprobs(path("model"))),
               after = distance(logprobs(summary->checkpoint));
  EXPECT_GT(before, 0.1);
  EXPECT_LT(after, before / 2);
}

TEST_F(TeacherTest, LeavesTheRestOfTheRunToRewards) {
  config_.run.steps = 4;
  config_.teacher.steps = 2;
  ASSERT_TRUE(run());
  const auto kl = metric("teacher/kl");
  EXPECT_NE(kl[0], -999);
  EXPECT_NE(kl[1], -999);
  EXPECT_EQ(kl[2], -999) << "the metric is recorded while the teacher teaches";
  EXPECT_EQ(kl[3], -999);
}

TEST_F(TeacherTest, LetsARunGoOnAfterAnyStepToTheSameWeights) {
  config_.run.steps = 4;
  config_.checkpoint = {.every = 1, .keep_last = 9};
  config_.teacher.steps = 3;
  ASSERT_TRUE(run());
  const auto weights = [&] {
    return *read_file(path("run") / "checkpoints/step-4/model.safetensors");
  };
  const std::string expected = weights();
  for (const int step : {3, 1, 0}) {
    ASSERT_TRUE(
        write_file_atomic(path("run") / "checkpoints/latest", fmt::format("step-{}\n", step)));
    const auto summary = run();
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_TRUE(weights() == expected) << "from step " << step;
  }
}

TEST_F(TeacherTest, TeachesTheSameToAStudentThatLearnsEarly) {
  ASSERT_TRUE(run());
  const auto kl = metric("teacher/kl"), norms = metric("grad_norm");
  fs::remove_all(path("run"));
  config_.rollout.learn_early = true;
  ASSERT_TRUE(run());
  EXPECT_THAT(metric("teacher/kl"), ::testing::Pointwise(::testing::DoubleNear(1e-5), kl));
  EXPECT_THAT(metric("grad_norm"), ::testing::Pointwise(::testing::DoubleNear(1e-5), norms));
}

TEST_F(TeacherTest, WithAnotherTokenizerIsRefused) {
  const auto refusal = [&] {
    const auto preview = preview_rl(config_, tasks_);
    EXPECT_FALSE(preview);
    const auto summary = run();
    EXPECT_FALSE(summary);
    EXPECT_EQ(summary.error().message, preview.error().message);
    return preview.error().message;
  };
  const auto give = [&](const text::TokenizerTraining& training) {
    const std::vector<std::string> corpus = {"xyxyxyxy"};
    ASSERT_TRUE(text::Tokenizer::train(corpus, training)->save(path("teacher") / "tokenizer.json"));
  };
  give({.vocabulary_size = 258,
        .added_tokens = {{.content = "<|im_end|>", .special = true},
                         {.content = "<|im_start|>", .special = true}}});
  EXPECT_THAT(refusal(), HasSubstr("has another tokenizer: id 0 is \"<|im_end|>\" there, and "
                                   "\"<|im_start|>\" in the student's"));
  give({.vocabulary_size = 259,
        .added_tokens = {{.content = "<|im_start|>", .special = true},
                         {.content = "<|im_end|>", .special = true}}});
  EXPECT_THAT(refusal(), HasSubstr("a tokenizer of 259 ids, and the student's has 258"));
  make_tiny_model(path("teacher"), 8, 70);
  EXPECT_THAT(refusal(), HasSubstr("a rollout allows"));
  config_.teacher.path = path("nowhere").string();
  EXPECT_THAT(refusal(), HasSubstr("nowhere"));
}

TEST_F(TeacherTest, NeedsNoGroupsUnlessRewardsCount) {
  config_.rollout.samples = 1;
  EXPECT_TRUE(check(config_));
  config_.teacher.steps = 5;
  EXPECT_FALSE(check(config_));
  config_.rollout.samples = 4;
  EXPECT_TRUE(check(config_));
  config_.algorithm.filter_groups = true;
  EXPECT_THAT(check(config_).error().message, HasSubstr("teacher.alone"));
  config_.teacher.alone = false;
  EXPECT_TRUE(check(config_));
}

}  // namespace
}  // namespace tritonsmith::train
