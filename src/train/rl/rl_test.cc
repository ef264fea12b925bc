#include "train/rl/rl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>

#include "base/file.h"
#include "base/lease.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"
#include "train/rl/expert_examples.h"
#include "train/rl/testing/rl_fixture.h"

namespace tritonsmith::train {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

TEST_F(RlTest, LearnsWhatTheJudgeAccepts) {
  config_.run.steps = 40;
  config_.rollout.samples = 8;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->is_finished);
  const auto accepted = metric("stage/accepted");
  const auto mean = [&](int begin, int end) {
    return std::accumulate(accepted.begin() + begin, accepted.begin() + end, 0.0) / (end - begin);
  };
  EXPECT_LT(mean(0, 5), 0.75);
  EXPECT_GT(mean(30, 40), 0.9);
}

TEST_F(RlTest, RecordsEverySampleWithItsRewardAndAdvantage) {
  ASSERT_TRUE(run());
  const auto all = samples();
  ASSERT_THAT(all, SizeIs(3 * 2 * 4));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].step, static_cast<std::int64_t>(i / 8) + 1);
    EXPECT_EQ(all[i].group, static_cast<int>(i % 8 / 4));
    EXPECT_EQ(all[i].member, static_cast<int>(i % 4));
    EXPECT_EQ(all[i].verdict.accepted, all[i].kernel[0] <= 'd') << all[i].kernel;
    // Every sample has the format and compiles. These stages pay only in the first step.
    const double early = all[i].step == 1 ? 0.3 : 0.0;
    EXPECT_NEAR(all[i].reward.total, early + (all[i].verdict.accepted ? 1 : 0), 1e-9);
    EXPECT_EQ(all[i].completion.tokens.size(), all[i].completion.logprobs.size());
  }
  for (std::size_t begin = 0; begin < all.size(); begin += 4) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += all[begin + i].advantage;
    EXPECT_NEAR(sum, 0, 1e-9);
  }
}

TEST_F(RlTest, ReportsWhatSamplerAndTrainerDifferBy) {
  ASSERT_TRUE(run());
  EXPECT_THAT(metric("logprob_difference/max"), Each(Le(1e-5)));
  EXPECT_THAT(metric("logprob_difference/mean"), Each(::testing::Ge(0.0)));
  EXPECT_THAT(metric("logprob_difference/p99"), Each(Le(1e-5)));
  EXPECT_THAT(metric("clip_fraction"), Each(0.0));
}

TEST_F(RlTest, TakesSeveralUpdatesFromAStepWithinTheClip) {
  config_.algorithm.epochs = 3;
  config_.algorithm.minibatches = 2;
  config_.algorithm.kl_beta = 0.05;
  config_.optimizer.learning_rate = 0.05;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(metric("clip_fraction"), ::testing::Contains(::testing::Gt(0.0)));
  EXPECT_THAT(metric("kl"), Each(::testing::Gt(0.0)));
  EXPECT_THAT(metric("logprob_difference/max"), Each(Le(1e-5)));
}

TEST_F(RlTest, TrainsOnlyWhileItHoldsTheLeaseOfTheGpu) {
  gpu_lease_ = path("gpu");
  auto timer = Lease::open(gpu_lease_);
  ASSERT_TRUE(timer);
  std::atomic<bool> waited = false;
  std::jthread referee;
  int judged = 0;
  gym::api::FakeJudge judge([&](const gym::api::JudgeJob& job) {
    if (judged++ == 0) {  // holds the lease from the first job on, until training waits for it
      EXPECT_TRUE(timer->take(Lease::Hold::alone, Deadline::after(Milliseconds(0))));
      referee = std::jthread([&] {
        const Deadline patience = Deadline::after(std::chrono::seconds(20));
        while (!timer->is_wanted() && !patience.passed()) std::this_thread::yield();
        waited = timer->is_wanted();
        timer->give_back();
      });
    }
    return judge_letters(job);
  });
  const auto summary = run_with(judge);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(waited);
  referee.join();
  EXPECT_TRUE(timer->take(Lease::Hold::alone, Deadline::after(Milliseconds(0))));
}

TEST_F(RlTest, NeverRewardsAFaultOfTheGym) {
  gym::api::FakeJudge broken([](const gym::api::JudgeJob&) {
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    return verdict;
  });
  config_.run.steps = 1;
  const std::string before = *read_file(path("model") / "model.safetensors");
  const auto summary = run_with(broken);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(metric("samples/unscored"), Each(8.0));
  EXPECT_EQ(*read_file(summary->checkpoint / "model.safetensors"), before);
}

TEST_F(RlTest, StopsWhenTheGymHasNothingButFaults) {
  gym::api::FakeJudge broken([](const gym::api::JudgeJob&) {
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    verdict.error = VerdictError{.error_class = ErrorClass::infrastructure, .message = "no zygote"};
    return verdict;
  });
  EXPECT_THAT(run_with(broken).error().message, HasSubstr("the gym is broken: the last 16"));
  EXPECT_THAT(steps(), SizeIs(1)) << "the second step's sixteenth fault ended the run";
  ASSERT_TRUE(run()) << "and goes on when it is back";
}

TEST_F(RlTest, StopsWithOneLineWhenTheGymBreaksDown) {
  gym::api::FakeJudge broken(judge_letters);
  broken.break_down({"the gym is on fire"});
  EXPECT_THAT(run_with(broken).error().message, HasSubstr("the gym is on fire"));
  ASSERT_TRUE(run()) << "and goes on when it is back";
  EXPECT_THAT(steps(), SizeIs(3));
}

TEST_F(RlTest, SaysWhatIsWrongWithItsInput) {
  const auto wrong = [&](auto change) {
    const RlConfig before = config_;
    change();
    const auto summary = run();
    config_ = before;
    return summary ? std::string() : summary.error().message;
  };
  EXPECT_THAT(wrong([&] { config_.rollout.samples = 1; }), HasSubstr("rollout.samples"));
  EXPECT_THAT(wrong([&] { config_.rollout.sampling.temperature = 0; }), HasSubstr("temperature"));
  EXPECT_THAT(wrong([&] { config_.rollout.sampling.max_new_tokens = 126; }),
              HasSubstr("none of the 3 tasks"));
  EXPECT_THAT(wrong([&] { config_.reward.similarity = 1; }), HasSubstr("tasks.references"));
  tasks_[1].split = TaskSplit::heldout;
  EXPECT_THAT(wrong([] {}), HasSubstr("t2 is held out"));
}

TEST_F(RlTest, GoesOnAfterAnyStepToTheSameWeights) {
  config_.run.steps = 4;
  config_.checkpoint = {.every = 1, .keep_last = 9};
  config_.algorithm.kl_beta = 0.01;
  ASSERT_TRUE(run());
  const auto weights = [&] {
    return *read_file(path("run") / "checkpoints/step-4/model.safetensors");
  };
  const std::string expected = weights();
  const std::string records = *read_file(path("run") / "samples.jsonl");
  fs::remove_all(path("model"));
  for (const int step : {3, 1, 0}) {
    ASSERT_TRUE(
        write_file_atomic(path("run") / "checkpoints/latest", fmt::format("step-{}\n", step)));
    const auto summary = run();
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(weights(), expected) << "from step " << step;
    EXPECT_EQ(*read_file(path("run") / "samples.jsonl"), records);
  }
}

TEST_F(RlTest, RefusesCombinationsThatMakeNoSense) {
  const auto reason = [&](auto change) {
    const RlConfig before = config_;
    change(config_.algorithm);
    const Status checked = check(config_);
    config_ = before;
    return checked ? std::string() : checked.error().message;
  };
  using A = AlgorithmSection;
  EXPECT_EQ(reason([](A&) {}), "");
  EXPECT_THAT(reason([&](A& a) {
                config_.rollout.staleness = 1;
                a.mrs_high = 1.001;
              }),
              HasSubstr("rollout.staleness"));
  EXPECT_THAT(reason([](A& a) {
                a.kl_beta = 0.1;
                a.kl_estimator = algorithm::KlEstimator::k1;
              }),
              HasSubstr("mean gradient of 0"));
  EXPECT_THAT(reason([](A& a) { a.dual_clip = 1.1; }), HasSubstr("within the first bound"));
  EXPECT_THAT(reason([](A& a) {
                a.loss = algorithm::Loss::cispo;
                a.dual_clip = 3;
              }),
              HasSubstr("cispo"));
  EXPECT_THAT(reason([](A& a) {
                a.loss = algorithm::Loss::gspo;
                a.aggregation = AggregationChoice::token_mean;
              }),
              HasSubstr("sequence_mean"));
  EXPECT_THAT(reason([](A& a) { a.singleton = algorithm::Singleton::own_reward; }),
              HasSubstr("another scale"));
  EXPECT_THAT(reason([](A& a) { a.max_prompt_batches = 3; }), HasSubstr("filter_groups"));
  EXPECT_THAT(reason([](A& a) { a.overlong_weight = 1; }), HasSubstr("overlong_cache"));
  EXPECT_THAT(reason([](A& a) { a.credit = CreditKind::hierarchical; }), HasSubstr("reward.speed"));
  EXPECT_THAT(reason([](A& a) { a.mrs_low = 0.9; }), HasSubstr("mrs_high"));
  EXPECT_THAT(reason([](A& a) {
                a.mismatch = algorithm::MismatchRule::token_truncate;
                a.mismatch_floor = 0.5;
              }),
              HasSubstr("no floor"));
  config_.judge.backend = Backend::evaluate;
  EXPECT_THAT(reason([](A& a) { a.prs = true; }), HasSubstr("never measures"));
}

// Runs every loss and every advantage with all options that go with it.
class EveryLossTest
    : public RlTest,
      public ::testing::WithParamInterface<std::tuple<algorithm::Loss, algorithm::AdvantageRule>> {
};
INSTANTIATE_TEST_SUITE_P(
    RlTest, EveryLossTest,
    ::testing::Values(std::tuple(algorithm::Loss::grpo, algorithm::AdvantageRule::grpo),
                      std::tuple(algorithm::Loss::dr_grpo, algorithm::AdvantageRule::mean_only),
                      std::tuple(algorithm::Loss::dapo, algorithm::AdvantageRule::batch_std),
                      std::tuple(algorithm::Loss::bnpo,
                                 algorithm::AdvantageRule::reinforce_baseline),
                      std::tuple(algorithm::Loss::gspo, algorithm::AdvantageRule::rloo),
                      std::tuple(algorithm::Loss::cispo, algorithm::AdvantageRule::trloo)));

TEST_P(EveryLossTest, LearnsTheSameWhateverTheMicroBatchAndWhoSharesAPrompt) {
  AlgorithmSection& rules = config_.algorithm;
  std::tie(rules.loss, rules.advantage) = GetParam();
  rules.minibatches = 2;
  rules.kl_beta = 0.02;
  rules.kl_estimator = algorithm::KlEstimator::k2;
  rules.entropy_beta = 0.01;
  rules.mismatch = algorithm::MismatchRule::sequence_truncate;
  config_.run.steps = 2;
  config_.optimizer.epsilon = 1e-4;  // otherwise rounding noise causes steps in Adam
  std::vector<at::Tensor> weights;
  for (const auto& [budget, shares] :
       {std::pair{1 << 16, SharePrompts::off}, std::pair{16, SharePrompts::off},
        std::pair{1 << 16, SharePrompts::on}, std::pair{60, SharePrompts::on}}) {
    config_.optimizer.micro_batch_tokens = budget;
    config_.optimizer.share_prompts = shares;
    config_.run.dir = path(fmt::format("run {} {}", budget, name_of(shares))).string();
    const auto summary = run();
    ASSERT_TRUE(summary) << summary.error().message;
    auto learner = Learner::start(summary->checkpoint, c10::kCPU);
    weights.push_back(learner->parameters().values());
  }
  for (std::size_t i = 1; i < weights.size(); ++i)
    EXPECT_LT((weights[0] - weights[i]).abs().max().item<double>(), 1e-4) << i;
  auto first = Learner::start(path("model"), c10::kCPU);
  EXPECT_GT((weights[0] - first->parameters().values()).abs().max().item<double>(), 1e-3);
}

TEST_F(RlTest, SharesPromptsAndGoesOnToTheSameWeights) {
  config_.run.steps = 4;
  config_.checkpoint = {.every = 1, .keep_last = 9};
  config_.optimizer.share_prompts = SharePrompts::on;
  ASSERT_TRUE(run());
  EXPECT_THAT(metric("shared_tokens"), Each(::testing::Gt(0.0)));
  EXPECT_THAT(metric("logprob_difference/max"), Each(Le(1e-5)));
  const auto weights = [&] {
    return *read_file(path("run") / "checkpoints/step-4/model.safetensors");
  };
  const std::string expected = weights();
  ASSERT_TRUE(write_file_atomic(path("run") / "checkpoints/latest", "step-2\n"));
  ASSERT_TRUE(run());
  EXPECT_EQ(weights(), expected);
}

TEST_F(RlTest, PlaysManyTurnsAndComparesEachWithItsOwn) {
  make_tiny_model(path("model"), 3, 300);
  config_.turns = {.limit = 2, .end_when = episode::EndWhen::accepted};
  config_.algorithm.advantage = algorithm::AdvantageRule::trloo;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  const auto all = samples();
  std::map<std::tuple<std::int64_t, int, int>, double> sums;
  int second_turns = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sums[{all[i].step, all[i].group, all[i].turn}] += all[i].advantage;
    if (all[i].turn == 0) {
      EXPECT_EQ(all[i].verdict.accepted, i + 1 == all.size() || all[i + 1].turn == 0);
      continue;
    }
    ++second_turns;
    EXPECT_FALSE(all[i - 1].verdict.accepted);
    EXPECT_THAT(all[i].prompt, HasSubstr(all[i - 1].completion.text));
    EXPECT_THAT(all[i].prompt, HasSubstr("wrong_value"));
  }
  EXPECT_GT(second_turns, 3);
  for (const auto& [turn, sum] : sums) EXPECT_NEAR(sum, 0, 1e-9);
  EXPECT_THAT(metric("turn_2/samples"), Each(::testing::Gt(0.0)));
  EXPECT_THAT(metric("logprob_difference/max"), Each(Le(1e-5))) << "token-exact";
}

TEST_F(RlTest, SamplesUntilTheStepIsFullOfGroupsThatDiffer) {
  // Every completion for t1 is right, so its groups teach nothing.
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    return job.task.id == "t1" ? gym::api::accepted_verdict() : judge_letters(job);
  });
  config_.algorithm.filter_groups = true;
  config_.algorithm.max_prompt_batches = 6;
  config_.checkpoint = {.every = 1, .keep_last = 9};
  const auto summary = run_with(judge);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(metric("groups/prompt_batches"), ::testing::Contains(::testing::Gt(1.0)));
  for (const Sample& sample : samples())
    if (sample.task_id == "t1") {
      EXPECT_EQ(sample.advantage, 0);
    }
  EXPECT_THAT(metric("samples/trained"), Each(8.0));
  const std::string records = *read_file(path("run") / "samples.jsonl");
  ASSERT_TRUE(write_file_atomic(path("run") / "checkpoints/latest", "step-1\n"));
  ASSERT_TRUE(run_with(judge));
  EXPECT_EQ(*read_file(path("run") / "samples.jsonl"), records) << "resumed, the same prompts";
}

TEST_F(RlTest, CreditsThinkingBySpeedAndRejectsLazyKernels) {
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    Verdict verdict = judge_letters(job);
    verdict.speedup = job.kernel[1] <= 'd' ? 2 : 1;
    verdict.coverage = job.kernel[1] <= 'b' ? 0.1 : 0.9;
    return verdict;
  });
  config_.reward.speed = 0.5;
  config_.algorithm.credit = CreditKind::hierarchical;
  config_.algorithm.advantage = algorithm::AdvantageRule::mean_only;
  config_.algorithm.prs = true;
  const auto summary = run_with(judge);
  ASSERT_TRUE(summary) << summary.error().message;
  double lazy = 0;
  for (const Sample& sample : samples()) {
    const bool is_lazy = sample.verdict.accepted && *sample.verdict.coverage < 0.3;
    lazy += is_lazy ? 1 : 0;
    if (is_lazy) {
      EXPECT_EQ(sample.advantage, 0);
    }
  }
  double rejected = 0;
  for (const double count : metric("samples/rejected_by_profile")) rejected += count;
  EXPECT_EQ(rejected, lazy);
  EXPECT_GT(lazy, 0);
}

TEST_F(RlTest, TakesTheKlFromTheReward) {
  config_.algorithm.kl_beta = 0.5;
  config_.algorithm.kl_term = algorithm::KlTerm::reward;
  config_.algorithm.kl_estimator = algorithm::KlEstimator::k1;
  config_.optimizer.learning_rate = 0.05;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  for (const Sample& sample : samples()) {
    const RewardTerm& term = sample.reward.terms.back();
    ASSERT_EQ(term.name, "kl");
    EXPECT_EQ(term.weight, -0.5);
    if (sample.step == 1) {
      EXPECT_NEAR(term.value, 0, 1e-4) << "still the reference itself";
    }
    if (sample.step == 3) {
      EXPECT_GT(std::abs(term.value), 1e-3);
    }
  }
  const auto terms = metric("reward/kl");
  EXPECT_GT(std::abs(terms[2]), 1e-3) << "the step's numbers are those of its samples";
  double total = 0, count = 0;
  for (const Sample& sample : samples())
    if (sample.step == 3) total += sample.reward.total, count += 1;
  EXPECT_NEAR(metric("reward/mean")[2], total / count, 1e-6);
}

TEST_F(RlTest, LeavesItsSuccessesAsExamplesForTheNextRound) {
  make_tiny_model(path("model"), 3, 300);
  config_.turns = {.limit = 2, .end_when = episode::EndWhen::accepted};
  ASSERT_TRUE(run());
  const auto examples = expert_examples(path("run"), {.reward = 0.9, .solved = 1, .per_task = 100});
  ASSERT_TRUE(examples) << examples.error().message;
  std::set<std::pair<std::string, std::string>> expected;
  for (const Sample& sample : samples())
    if (sample.verdict.accepted) expected.insert({sample.task_id, sample.completion.text});
  std::set<std::pair<std::string, std::string>> found;
  bool has_later_turn = false;
  for (const SftExample& example : *examples) {
    found.insert({example.task_id, example.completion});
    has_later_turn |= example.prompt.size() == 3;
    EXPECT_EQ(example.prompt[0].content, example.task_id) << "the instruction";
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found.size(), examples->size()) << "no copies";
  EXPECT_TRUE(has_later_turn);
  EXPECT_THAT(expert_examples(path("run"), {.reward = 99}).error().message, HasSubstr("none of"));
}

TEST(RlConfig, HasTrainerAndEngineAgreeToTheBitUnlessToldOtherwise) {
  EXPECT_EQ(RlConfig{}.model.sums, model::Sums::equal);
  EXPECT_EQ(RlConfig{}.model.precision, model::Precision::bfloat16);
}

TEST(RlConfig, ReadsSettingsByTheirOldNames) {
  RlConfig config;
  const Settings old = {{"algorithm.plan_alpha", 0.5}, {"algorithm.kl_place", "reward"}};
  EXPECT_TRUE(apply_settings(config, old, "old.toml"));
  EXPECT_EQ(config.algorithm.thinking_alpha, 0.5);
  EXPECT_EQ(config.algorithm.kl_term, algorithm::KlTerm::reward);
}

TEST(RlConfig, HasAHelpForEveryField) {
  for (const auto& field : RlConfig::fields()) EXPECT_FALSE(field.help.empty()) << field.name;
}

}  // namespace
}  // namespace tritonsmith::train
