// Tests learning from a step's complete groups while others are still judged
// (rollout.learn_early).
#include <gmock/gmock.h>

#include "train/rl/testing/rl_fixture.h"

namespace tritonsmith::train {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

void expect_same(const std::vector<Sample>& found, const std::vector<Sample>& expected) {
  ASSERT_THAT(found, SizeIs(expected.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].task_id, expected[i].task_id);
    EXPECT_EQ(found[i].kernel, expected[i].kernel);
    EXPECT_EQ(found[i].reward.total, expected[i].reward.total);
    EXPECT_EQ(found[i].advantage, expected[i].advantage);
  }
}

TEST_F(RlTest, LearnsEarlyByTheSameNumbers) {
  config_.checkpoint = {.every = 0};
  config_.algorithm.filter_groups = true;
  config_.optimizer.micro_batch_tokens = 90;
  ASSERT_TRUE(run());
  const auto expected = samples();
  const std::vector<double> norms = metric("grad_norm"), entropies = metric("entropy"),
                            tokens = metric("tokens"), trained = metric("samples/trained");
  fs::remove_all(path("run"));
  config_.rollout.learn_early = true;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  expect_same(samples(), expected);
  EXPECT_THAT(metric("grad_norm"), ::testing::Pointwise(::testing::DoubleNear(1e-5), norms));
  EXPECT_THAT(metric("entropy"), ::testing::Pointwise(::testing::DoubleNear(1e-5), entropies));
  EXPECT_EQ(metric("tokens"), tokens);
  EXPECT_EQ(metric("samples/trained"), trained);
  EXPECT_THAT(metric("seconds/train_early"), Each(::testing::Ge(0.0)));
}

// Every completion for t1 is right, so its groups teach nothing and further prompt batches are
// sampled.
TEST_F(RlTest, LearnsEarlyFromAsManyPromptBatchesByTheSameNumbers) {
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    return job.task.id == "t1" ? gym::api::accepted_verdict() : judge_letters(job);
  });
  config_.checkpoint = {.every = 0};
  config_.algorithm.filter_groups = true;
  config_.algorithm.max_prompt_batches = 6;
  ASSERT_TRUE(run_with(judge));
  const auto expected = samples();
  const std::vector<double> norms = metric("grad_norm"), batches = metric("groups/prompt_batches");
  EXPECT_THAT(batches, ::testing::Contains(::testing::Gt(1.0)));
  fs::remove_all(path("run"));
  config_.rollout.learn_early = true;
  const auto summary = run_with(judge);
  ASSERT_TRUE(summary) << summary.error().message;
  expect_same(samples(), expected);
  EXPECT_EQ(metric("groups/prompt_batches"), batches);
  EXPECT_THAT(metric("grad_norm"), ::testing::Pointwise(::testing::DoubleNear(1e-5), norms));
}

TEST_F(RlTest, LearnsEarlyAndGoesOnToTheSameWeights) {
  config_.run.steps = 4;
  config_.checkpoint = {.every = 1, .keep_last = 9};
  config_.rollout.learn_early = true;
  config_.algorithm.kl_beta = 0.01;
  ASSERT_TRUE(run());
  const auto weights = [&] {
    return *read_file(path("run") / "checkpoints/step-4/model.safetensors");
  };
  const std::string expected = weights();
  for (const int step : {3, 0}) {
    ASSERT_TRUE(
        write_file_atomic(path("run") / "checkpoints/latest", fmt::format("step-{}\n", step)));
    const auto summary = run();
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(weights(), expected) << "from step " << step;
  }
}

// The engine of these tests answers the last request first.
TEST_F(RlTest, LearnsEarlyInTheOrderOfTheGroupsWhateverIsJudgedFirst) {
  config_.run.steps = 1;
  config_.rollout.prompts = 3;
  config_.rollout.learn_early = true;
  config_.trace.steps = {1};
  ASSERT_TRUE(run());
  const auto all = samples();
  ASSERT_THAT(all, SizeIs(12));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].group, static_cast<int>(i / 4));
  const auto trace = parse_json(*read_file(path("run") / "trace.json"));
  ASSERT_TRUE(trace);
  int gradients = 0;
  for (const Json& event : (*trace)["traceEvents"]) gradients += event["name"] == "gradient";
  EXPECT_EQ(gradients, 3);
}

TEST_F(RlTest, StopsWhenTheGymBreaksDownWhileItLearnsEarly) {
  config_.rollout.learn_early = true;
  int jobs = 0;
  gym::api::FakeJudge judge([&](const gym::api::JudgeJob& job) {
    if (++jobs == 10) judge.break_down({.message = "the gym is gone"});
    return judge_letters(job);
  });
  const auto summary = run_with(judge);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("the gym is gone"));
  EXPECT_THAT(steps(), SizeIs(1));
}

TEST_F(RlTest, LearnsNothingEarlyThatDependsOnTheWholeStep) {
  config_.rollout.learn_early = true;
  const auto reason = [&](auto change) {
    const RlConfig before = config_;
    change();
    const Status checked = check(config_);
    config_ = before;
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(reason([] {}), "");
  EXPECT_THAT(reason([&] { config_.rollout.staleness = 1; }), HasSubstr("staleness = 0"));
  EXPECT_THAT(reason([&] { config_.algorithm.epochs = 2; }), HasSubstr("epochs = 2"));
  EXPECT_THAT(reason([&] { config_.algorithm.advantage = algorithm::AdvantageRule::batch_std; }),
              HasSubstr("batch_std divides"));
}

}  // namespace
}  // namespace tritonsmith::train
