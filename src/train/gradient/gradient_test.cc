// The learning rule: gradients do not depend on how an optimizer step is cut into micro-batches.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.h"
#include "base/temp_dir.h"
#include "model/checkpoint/checkpoint.h"
#include "train/gradient/partial_update.h"
#include "train/gradient/policy_gradient.h"
#include "train/gradient/sft_gradient.h"

namespace tritonsmith::train {
namespace {

model::ModelConfig tiny_config() {
  return {.vocab_size = 40,
          .hidden_size = 32,
          .intermediate_size = 48,
          .num_hidden_layers = 2,
          .num_attention_heads = 2,
          .num_key_value_heads = 1,
          .head_dim = 16,
          .max_position_embeddings = 64,
          .initializer_range = 0.3};
}

class GradientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    at::set_num_threads(1);  // the model is tiny, so threads would only wait for each other
    ASSERT_TRUE(model::save_model(model::Transformer::random(tiny_config(), 3), temp_->path()));
    auto started = Learner::start(temp_->path(), c10::kCPU);
    ASSERT_TRUE(started) << started.error().message;
    learner_ = std::make_unique<Learner>(*std::move(started));
    Rng rng(1, "gradient test", 0);
    for (std::size_t i = 0; i < 12; ++i) {
      TrainingSequence sequence{.prompt_length = 1 + rng.below(8)};
      const std::size_t length = sequence.prompt_length + 1 + rng.below(20);
      for (std::size_t t = 0; t < length; ++t)
        sequence.tokens.push_back(static_cast<TokenId>(rng.below(40)));
      sequences_.push_back(std::move(sequence));
    }
  }
  std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> members(sequences_.size());
    std::iota(members.begin(), members.end(), std::size_t{0});
    return members;
  }
  Result<TempDir> temp_ = TempDir::make("gradient");
  std::unique_ptr<Learner> learner_;
  std::vector<TrainingSequence> sequences_;
};

struct PolicyCase {
  algorithm::Loss loss;
  algorithm::Aggregation aggregation;
};

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST_F(GradientTest, OfSftDoesNotDependOnMicroBatchesOrOrder) {
  const auto whole = set_sft_gradient(*learner_, sequences_, in_order(), {.budget = 1 << 20});
  const at::Tensor expected = learner_->parameters().gradients().clone();
  EXPECT_GT(expected.norm().item<double>(), 0.1);
  for (const std::int64_t budget : {1, 20, 37, 64}) {
    for (std::uint64_t order = 0; order < 3; ++order) {
      auto members = in_order();
      if (order > 0) Rng(order, "order", 0).shuffle(members);
      const auto cut = set_sft_gradient(*learner_, sequences_, members, {.budget = budget});
      EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-6);
      EXPECT_NEAR(cut.loss, whole.loss, 1e-6);
      EXPECT_NEAR(cut.entropy, whole.entropy, 1e-6);
      EXPECT_EQ(cut.trained_tokens, whole.trained_tokens);
    }
  }
}

TEST_F(GradientTest, OfSftIsThatOfTheMeanCrossEntropy) {
  // The expected gradient comes from autograd over full logits, one sequence at a time.
  at::Tensor total = at::zeros({});
  std::int64_t tokens = 0;
  for (const TrainingSequence& sequence : sequences_) {
    const std::vector<std::vector<TokenId>> alone = {sequence.tokens};
    const at::Tensor hidden = learner_->model().forward(model::pack(alone, c10::kCPU));
    const at::Tensor logprobs =
        at::log_softmax(at::matmul(hidden, learner_->model().head_weight().t()), 1);
    for (std::size_t t = sequence.prompt_length; t < sequence.tokens.size(); ++t, ++tokens)
      total = total - logprobs[static_cast<std::int64_t>(t) - 1][sequence.tokens[t]];
  }
  learner_->zero_gradients();
  const at::Tensor loss = total / tokens;
  loss.backward();
  const at::Tensor expected = learner_->parameters().gradients().clone();
  const auto report = set_sft_gradient(*learner_, sequences_, in_order(), {.budget = 50});
  EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-5);
  EXPECT_NEAR(report.loss, loss.item<double>(), 1e-5);
}

// Off-policy samples with two turns in a sequence, so that clipping, KL, mismatch weights and
// context all take part.
class PolicyGradientTest : public GradientTest, public ::testing::WithParamInterface<PolicyCase> {
 protected:
  PolicyBatch batch() {
    PolicyBatch batch{.sequences = sequences_};
    Rng rng(2, "policy gradient test", 0);
    for (std::size_t s = 0; s < batch.sequences.size(); ++s) {
      TrainingSequence& sequence = batch.sequences[s];
      const std::size_t begin = sequence.prompt_length, end = sequence.tokens.size();
      if (end - begin > 4) {
        sequence.context = {{.begin = begin + 2, .end = begin + 3}};
        batch.sequence_of.insert(batch.sequence_of.end(), 2, s);
        add_segment(batch, 2);
        add_segment(batch, end - begin - 3);
      } else {
        batch.sequence_of.push_back(s);
        add_segment(batch, end - begin);
      }
    }
    batch.sampler = segment_logprobs(learner_->model(), batch, 0.8, {.budget = 64});
    batch.old = batch.reference = batch.mismatch = batch.sampler;
    for (TokenColumn* column : {&batch.sampler, &batch.old, &batch.reference})
      for (auto& row : *column)
        for (float& value : row) value += static_cast<float>(0.2 * rng.normal());
    for (auto& row : batch.mismatch)
      for (float& value : row) value = static_cast<float>(2 * rng.uniform());
    for (std::size_t g = 0; g < batch.segments(); ++g)
      for (float& value : batch.advantages[g])
        value = batch.sequence_of[g] % 4 == 1 ? 0.0F : static_cast<float>(rng.normal());
    batch.counts.assign(batch.segments(), 1);
    batch.counts[5] = 0;
    return batch;
  }
  static void add_segment(PolicyBatch& batch, std::size_t tokens) {
    batch.sampler.emplace_back(tokens, 0.0F);
    batch.advantages.emplace_back(tokens, 0.0F);
  }
  // Returns some of a batch's sequences as a batch.
  static PolicyBatch sequences_of(const PolicyBatch& batch, std::size_t begin, std::size_t end) {
    PolicyBatch part;
    for (std::size_t s = begin; s < end; ++s) {
      part.sequences.push_back(batch.sequences[s]);
      const Span own = batch.segments_of(s);
      for (std::size_t g = own.begin; g < own.end; ++g) {
        part.sequence_of.push_back(s - begin);
        part.counts.push_back(batch.counts[g]);
        part.advantages.push_back(batch.advantages[g]);
        part.sampler.push_back(batch.sampler[g]);
        part.old.push_back(batch.old[g]);
        part.reference.push_back(batch.reference[g]);
        part.mismatch.push_back(batch.mismatch[g]);
      }
    }
    return part;
  }
  static PolicyGradientOptions options() {
    return {.policy = {.loss = GetParam().loss},
            .aggregation = GetParam().aggregation,
            .horizon = 20,
            .updates = 2,
            .temperature = 0.8,
            .packing = {.budget = 1 << 20}};
  }
};
INSTANTIATE_TEST_SUITE_P(
    Losses, PolicyGradientTest,
    ::testing::Values(PolicyCase{algorithm::Loss::grpo, algorithm::Aggregation::sequence_mean},
                      PolicyCase{algorithm::Loss::dr_grpo, algorithm::Aggregation::fixed_length},
                      PolicyCase{algorithm::Loss::dapo, algorithm::Aggregation::step_token_mean},
                      PolicyCase{algorithm::Loss::bnpo, algorithm::Aggregation::token_mean},
                      PolicyCase{algorithm::Loss::gspo, algorithm::Aggregation::sequence_mean},
                      PolicyCase{algorithm::Loss::cispo, algorithm::Aggregation::step_token_mean},
                      PolicyCase{algorithm::Loss::grpo, algorithm::Aggregation::fixed_total}));

TEST_P(PolicyGradientTest, DoesNotDependOnMicroBatchesOrOrder) {
  PolicyGradientOptions rules = options();
  rules.policy.kl_beta = 0.1;
  rules.policy.dual_clip = rules.policy.loss == algorithm::Loss::cispo ? 0 : 1.5;
  rules.entropy_beta = 0.05;
  // A completion's mean ratio varies less than a token's.
  if (rules.policy.loss == algorithm::Loss::gspo)
    rules.policy.clip_low = rules.policy.clip_high = 0.02;
  const PolicyBatch policy = batch();
  const auto whole = set_policy_gradient(*learner_, policy, in_order(), rules);
  const at::Tensor expected = learner_->parameters().gradients().clone();
  EXPECT_GT(expected.norm().item<double>(), 0.01);
  EXPECT_GT(whole.clip_fraction, 0.01);
  for (const std::int64_t budget : {1, 37}) {
    rules.packing.budget = budget;
    auto members = in_order();
    Rng(static_cast<std::uint64_t>(budget), "order", 0).shuffle(members);
    const auto cut = set_policy_gradient(*learner_, policy, members, rules);
    EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-6);
    EXPECT_NEAR(cut.loss, whole.loss, 1e-6);
    EXPECT_NEAR(cut.kl, whole.kl, 1e-6);
    EXPECT_NEAR(cut.difference_max, whole.difference_max, 1e-6);
  }
}

TEST_P(PolicyGradientTest, TakenUpPieceByPieceIsThatOfTheWholeStep) {
  PolicyGradientOptions rules = options();
  rules.packing.budget = 37;
  rules.policy.kl_beta = rules.entropy_beta = 0.05;
  const PolicyBatch policy = batch();
  const auto whole = set_policy_gradient(*learner_, policy, in_order(), rules);
  const at::Tensor expected = learner_->parameters().gradients().clone();
  for (const std::size_t piece : {1, 3, 100}) {
    PartialUpdate gradient(*learner_, rules);
    for (std::size_t begin = 0; begin < policy.sequences.size(); begin += piece)
      gradient.add(sequences_of(policy, begin, std::min(begin + piece, policy.sequences.size())));
    const auto report = std::move(gradient).finish();
    EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-6);
    EXPECT_NEAR(report.loss, whole.loss, 1e-6);
    EXPECT_NEAR(report.entropy, whole.entropy, 1e-6);
    EXPECT_EQ(report.tokens, whole.tokens);
    EXPECT_EQ(report.measured, whole.measured);
  }
}

TEST_P(PolicyGradientTest, OfPiecesIsTheSameToTheBitHoweverTheyCome) {
  PolicyGradientOptions rules = options();
  rules.packing.budget = 37;
  const PolicyBatch policy = batch();
  at::Tensor expected;
  for (const std::size_t piece : {1, 2, 100}) {
    PartialUpdate gradient(*learner_, rules);
    for (std::size_t begin = 0; begin < policy.sequences.size(); begin += piece)
      gradient.add(sequences_of(policy, begin, std::min(begin + piece, policy.sequences.size())));
    std::move(gradient).finish();
    if (!expected.defined()) expected = learner_->parameters().gradients().clone();
    EXPECT_TRUE(at::equal(learner_->parameters().gradients(), expected)) << piece;
  }
}

TEST_P(PolicyGradientTest, OfPiecesWithoutAnyAdvantageIsZeroAndStillMeasured) {
  PolicyBatch policy = batch();
  for (auto& row : policy.advantages) row.assign(row.size(), 0.0F);
  PartialUpdate gradient(*learner_, options());
  gradient.add(policy);
  EXPECT_GT(std::move(gradient).finish().measured, 0);
  EXPECT_EQ(learner_->parameters().gradients().abs().max().item<float>(), 0.0F);
}

TEST_P(PolicyGradientTest, IsTheSameWhenSequencesWithoutAdvantageSkipTheModel) {
  PolicyBatch policy = batch();
  const auto skipped = set_policy_gradient(*learner_, policy, in_order(), options());
  const at::Tensor expected = learner_->parameters().gradients().clone();
  for (auto& row : policy.advantages)
    for (float& advantage : row)
      if (advantage == 0) advantage = 1e-30F;
  const auto through = set_policy_gradient(*learner_, policy, in_order(), options());
  EXPECT_LT(skipped.tokens, through.tokens);
  EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-6);
}

TEST_P(PolicyGradientTest, OfAMaskedTurnIsThatOfItsContext) {
  // This compares two segments of one sequence with a copy whose first segment is context.
  PolicyBatch masked = batch();
  masked.old =
      segment_logprobs(learner_->model(), masked, 0.8, {.budget = 64});  // so nothing is clipped
  std::size_t sequence = 0;
  const auto has_two_that_count = [&] {
    const Span own = masked.segments_of(sequence);
    return own.end - own.begin == 2 && masked.advantages[own.begin + 1][0] != 0;
  };
  while (!has_two_that_count()) ++sequence;
  const std::size_t first = masked.segments_of(sequence).begin;
  masked.counts.assign(masked.segments(), 0);
  masked.counts[first + 1] = 1;
  PolicyGradientOptions rules = options();
  rules.aggregation = algorithm::Aggregation::token_mean;
  set_policy_gradient(*learner_, masked, in_order(), rules);
  const at::Tensor expected = learner_->parameters().gradients().clone();
  const auto only = [&](const TokenColumn& column) { return TokenColumn{column[first + 1]}; };
  PolicyBatch alone{.sequences = {masked.sequences[sequence]},
                    .sequence_of = {0},
                    .counts = {1},
                    .advantages = only(masked.advantages),
                    .sampler = only(masked.sampler),
                    .old = only(masked.old),
                    .reference = only(masked.reference),
                    .mismatch = only(masked.mismatch)};
  alone.sequences[0].context = {};
  alone.sequences[0].prompt_length = masked.sequences[sequence].context[0].end;
  const std::vector<std::size_t> members = {0};
  set_policy_gradient(*learner_, alone, members, rules);
  EXPECT_GT(expected.norm().item<double>(), 1e-4);
  EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-6);
}

// Groups with several samples or one, and between them a single sequence. The first two prompts
// begin alike, and one prompt has a single token.
class SharedPromptsTest : public PolicyGradientTest {
 protected:
  void SetUp() override {
    PolicyGradientTest::SetUp();
    sequences_.clear();
    Rng rng(5, "shared prompts test", 0);
    const auto some = [&](std::size_t count, std::vector<TokenId> tokens) {
      for (std::size_t t = 0; t < count; ++t) tokens.push_back(static_cast<TokenId>(rng.below(40)));
      return tokens;
    };
    const std::vector<TokenId> common = some(6, {});
    const std::pair<std::vector<TokenId>, int> groups[] = {{some(5, common), 4},
                                                           {some(3, common), 3},
                                                           {some(1, {}), 2},
                                                           {some(12, {}), 1},
                                                           {some(7, {}), 4}};
    for (const auto& [prompt, samples] : groups)
      for (int i = 0; i < samples; ++i)
        sequences_.push_back({.tokens = some(1 + rng.below(20), prompt),
                              .prompt_length = prompt.size(),
                              .context = {}});
  }
};
INSTANTIATE_TEST_SUITE_P(
    Losses, SharedPromptsTest,
    ::testing::Values(PolicyCase{algorithm::Loss::grpo, algorithm::Aggregation::sequence_mean},
                      PolicyCase{algorithm::Loss::gspo, algorithm::Aggregation::sequence_mean},
                      PolicyCase{algorithm::Loss::dapo, algorithm::Aggregation::step_token_mean}));

TEST_P(SharedPromptsTest, GiveTheGradientsOfPromptsComputedForEachSample) {
  PolicyGradientOptions rules = options();
  rules.policy.kl_beta = rules.entropy_beta = 0.05;
  const PolicyBatch policy = batch();
  const auto whole = set_policy_gradient(*learner_, policy, in_order(), rules);
  EXPECT_EQ(whole.shared_tokens, 0);
  const at::Tensor expected = learner_->parameters().gradients().clone();
  EXPECT_GT(expected.norm().item<double>(), 0.01);
  for (const std::int64_t budget : {1 << 20, 61, 37, 1}) {  // some cut groups, the last cuts all
    rules.packing = {.budget = budget, .shares_prompts = true};
    const auto shared = set_policy_gradient(*learner_, policy, in_order(), rules);
    const at::Tensor at_once = learner_->parameters().gradients().clone();
    EXPECT_LT(largest_difference(at_once, expected), 1e-6) << budget;
    EXPECT_NEAR(shared.loss, whole.loss, 1e-6);
    EXPECT_NEAR(shared.entropy, whole.entropy, 1e-6);
    EXPECT_EQ(shared.measured, whole.measured);
    EXPECT_EQ(shared.tokens + shared.shared_tokens, whole.tokens);
    EXPECT_EQ(shared.shared_tokens > 0, budget > 1);
    PartialUpdate gradient(*learner_, rules);
    for (std::size_t s = 0; s < policy.sequences.size(); ++s)
      gradient.add(sequences_of(policy, s, s + 1));
    const auto piece_by_piece = std::move(gradient).finish();
    EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-6) << budget;
    EXPECT_EQ(piece_by_piece.tokens, shared.tokens);
  }
}

TEST_P(SharedPromptsTest, ChangeNoBitOfLogProbabilities) {
  const auto each = token_logprobs(learner_->model(), sequences_, 0.8, {});
  for (const std::int64_t budget : {8192, 37})
    EXPECT_EQ(token_logprobs(learner_->model(), sequences_, 0.8,
                             {.budget = budget, .shares_prompts = true}),
              each);
}

TEST_P(SharedPromptsTest, GiveTheGradientsOfSft) {
  const auto whole = set_sft_gradient(*learner_, sequences_, in_order(), {});
  const at::Tensor expected = learner_->parameters().gradients().clone();
  const auto shared = set_sft_gradient(*learner_, sequences_, in_order(), {.shares_prompts = true});
  EXPECT_LT(largest_difference(learner_->parameters().gradients(), expected), 1e-6);
  EXPECT_NEAR(shared.loss, whole.loss, 1e-6);
  EXPECT_GT(shared.shared_tokens, 0);
  EXPECT_EQ(shared.tokens + shared.shared_tokens, whole.tokens);
}

TEST_F(GradientTest, OfTheEntropyIsWhatAutogradFinds) {
  PolicyBatch policy{.sequences = sequences_};
  for (std::size_t s = 0; s < sequences_.size(); ++s) {
    policy.sequence_of.push_back(s);
    policy.sampler.emplace_back(static_cast<std::size_t>(sequences_[s].trained()), 0.0F);
  }
  policy.advantages = policy.sampler;  // without an advantage, only the entropy counts
  policy.counts.assign(sequences_.size(), 1);
  set_policy_gradient(*learner_, policy, in_order(),
                      {.entropy_beta = 0.5, .packing = {.budget = 50}});
  const at::Tensor found = learner_->parameters().gradients().clone();
  learner_->zero_gradients();
  const auto batches = make_micro_batches(sequences_, in_order(), {.budget = 1 << 20}, c10::kCPU);
  const auto now = forward_tokens(learner_->model(), batches[0], 1.0);
  (-0.5 * now.entropy.mean()).backward();
  EXPECT_GT(found.norm().item<double>(), 1e-3);
  EXPECT_LT(largest_difference(learner_->parameters().gradients(), found), 1e-6);
}

TEST_F(GradientTest, LeavesTheSameLearnerAfterSaveAndResume) {
  const OptimizerSection options{.learning_rate = 0.01, .warmup_updates = 0};
  set_sft_gradient(*learner_, sequences_, in_order(), {.budget = 64});
  ASSERT_TRUE(learner_->update(options, 10));
  auto dir = TempDir::make("learner");
  ASSERT_TRUE(learner_->save(dir->path(), temp_->path()));
  auto resumed = Learner::resume(dir->path(), c10::kCPU, temp_->path());
  ASSERT_TRUE(resumed) << resumed.error().message;
  for (Learner* learner : {learner_.get(), &*resumed}) {
    set_sft_gradient(*learner, sequences_, in_order(), {.budget = 64});
    ASSERT_TRUE(learner->update(options, 10));
  }
  EXPECT_EQ(resumed->updates(), 2);
  EXPECT_TRUE(at::equal(learner_->parameters().values(), resumed->parameters().values()));
}

TEST_F(GradientTest, ThatIsNotFiniteStopsBeforeTheWeightsAreTouched) {
  set_sft_gradient(*learner_, sequences_, in_order(), {.budget = 64});
  learner_->parameters().gradients()[5] = NAN;
  const at::Tensor before = learner_->parameters().values().clone();
  const auto report = learner_->update({}, 10);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("update 1 is not finite"), std::string::npos);
  EXPECT_TRUE(at::equal(learner_->parameters().values(), before));
}

}  // namespace
}  // namespace tritonsmith::train
