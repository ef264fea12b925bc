// Tests gathering ahead (rollout.staleness) and the time line of a step.
#include <gmock/gmock.h>

#include <map>

#include "train/rl/testing/rl_fixture.h"

namespace tritonsmith::train {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(RlTest, GathersTheNextStepWhileItTrainsAndStillGoesOnToTheSameWeights) {
  config_.run.steps = 5;
  config_.rollout.staleness = 1;
  config_.checkpoint = {.every = 2, .keep_last = 9};
  const auto first = run();
  ASSERT_TRUE(first) << first.error().message;
  // Right after a checkpoint, nothing has been gathered ahead.
  EXPECT_THAT(metric("rollout/staleness"), ::testing::ElementsAre(0, 1, 0, 1, 0));
  // In stale steps, the trained weights are one update ahead of the sampling weights.
  const auto differences = metric("logprob_difference/mean");
  EXPECT_THAT(metric("clip_fraction"), Each(::testing::Ge(0.0)));
  EXPECT_LT(differences[0], 1e-5);
  const auto all = samples();
  ASSERT_THAT(all, SizeIs(5 * 2 * 4));
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i].step, static_cast<std::int64_t>(i / 8) + 1);
  const auto weights = [&] {
    return *read_file(path("run") / "checkpoints/step-5/model.safetensors");
  };
  const std::string expected = weights(), records = *read_file(path("run") / "samples.jsonl");
  for (const int step : {4, 2, 0}) {
    ASSERT_TRUE(
        write_file_atomic(path("run") / "checkpoints/latest", fmt::format("step-{}\n", step)));
    const auto summary = run();
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(weights(), expected) << "from step " << step;
    EXPECT_EQ(*read_file(path("run") / "samples.jsonl"), records);
  }
}

TEST_F(RlTest, SamplesAheadWithTheWeightsFromBeforeTheUpdate) {
  config_.run.steps = 2;
  config_.checkpoint = {.every = 0};
  config_.optimizer.learning_rate = 0.05;
  ASSERT_TRUE(run());
  const auto on_policy = samples();
  fs::remove_all(path("run"));
  config_.rollout.staleness = 1;
  ASSERT_TRUE(run());
  const auto ahead = samples();
  const auto logprobs_of_step = [](const std::vector<Sample>& all, std::int64_t step) {
    std::vector<float> found;
    for (const Sample& sample : all)
      if (sample.step == step)
        found.insert(found.end(), sample.completion.logprobs.begin(),
                     sample.completion.logprobs.end());
    return found;
  };
  EXPECT_EQ(logprobs_of_step(on_policy, 1), logprobs_of_step(ahead, 1));
  EXPECT_NE(logprobs_of_step(on_policy, 2), logprobs_of_step(ahead, 2));
}

TEST_F(RlTest, StopsWhenTheGymBreaksDownAhead) {
  config_.rollout.staleness = 1;
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

TEST_F(RlTest, DrawsATimeLineOfChosenSteps) {
  config_.trace.steps = {2};
  ASSERT_TRUE(run());
  const auto trace = parse_json(*read_file(path("run") / "trace.json"));
  ASSERT_TRUE(trace);
  std::map<std::string, int> counts;
  for (const Json& event : (*trace)["traceEvents"]) {
    ++counts[event["ph"].get<std::string>() + " " + event["name"].get<std::string>()];
    if (event["args"].contains("step")) {
      EXPECT_EQ(event["args"]["step"], 2);
    }
  }
  EXPECT_EQ(counts["b written"], 8);
  EXPECT_EQ(counts["e written"], 8);
  EXPECT_EQ(counts["b judged"], 8);
  EXPECT_EQ(counts["X await rollout"], 1);
  EXPECT_EQ(counts["X update"], 1);
  for (const auto& record : steps()) {
    EXPECT_GE(*metric_of(record, "seconds/step"), *metric_of(record, "seconds/train"));
    EXPECT_GE(*metric_of(record, "seconds/judge"),
              *metric_of(record, "seconds/generate_and_judge"));
  }
}

}  // namespace
}  // namespace tritonsmith::train
