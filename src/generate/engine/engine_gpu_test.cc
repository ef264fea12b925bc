// Tests the engine on a GPU by the same contract as the one on a CPU, and compares it with the
// trainer's log-probabilities. Skips without a GPU or without kernels in the build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "base/rng.h"
#include "generate/engine/cuda_engine.h"
#include "model/layers/linear_logprob.h"
#include "model/layers/testing/on_gpu.h"

namespace tritonsmith::generate::engine {
namespace {

model::ModelConfig config_of(std::int64_t head_dim) {
  model::ModelConfig config =
      model::narrow_model(head_dim == 64 ? model::Family::qwen3 : model::Family::qwen2, head_dim);
  config.max_position_embeddings = 400;
  config.initializer_range = 0.08;
  return config;
}

class CudaEngineTest : public model::OnGpu<1> {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (!IsSkipped()) model_.emplace(model::Transformer::random(config_of(32), 4, device_));
  }
  std::unique_ptr<CudaEngine> engine(const EngineConfig& config) const {
    auto made = CudaEngine::make(*model_, config);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  std::optional<model::Transformer> model_;
};

std::vector<TokenId> prompt_of(std::uint64_t index, int length) {
  Rng rng(1, "prompt", index);
  std::vector<TokenId> prompt;
  for (int i = 0; i < length; ++i) prompt.push_back(static_cast<TokenId>(rng.below(512)));
  return prompt;
}

// Returns requests of many lengths and temperatures, with prompts shorter and longer than a page,
// in groups of three.
std::vector<GenerationRequest> requests_of(int count) {
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < count; ++i) {
    GenerationRequest request{.id = static_cast<std::uint64_t>(i), .seed = 100u + i};
    request.prompt = prompt_of(i / 3, 1 + i / 3 * 31 % 170);
    request.sampling = {.temperature = i % 4 == 3 ? 0.0 : 0.5 + 0.25 * (i % 4),
                        .top_p = i % 5 == 1 ? 0.8 : 1.0,
                        .top_k = i % 5 == 2 ? 7 : 0,
                        .max_new_tokens = 1 + i * 17 % 150};
    requests.push_back(request);
  }
  return requests;
}

at::Tensor trainer_logprobs(const model::Transformer& model, const Completion& completion,
                            double temperature) {
  const at::NoGradGuard no_grad;
  std::vector<TokenId> sequence = completion.prompt;
  sequence.insert(sequence.end(), completion.tokens.begin(), completion.tokens.end());
  const auto batch = model::pack(std::vector<std::vector<TokenId>>{sequence}, model.device());
  const auto hidden = model.forward(batch);
  const auto first = std::ssize(completion.prompt) - 1, count = std::ssize(completion.tokens);
  return model::linear_logprob(hidden.narrow(0, first, count), model.head_weight(),
                               batch.tokens.narrow(0, first + 1, count), temperature)
      .logprob.to(at::kCPU);
}

TEST_F(CudaEngineTest, GivesTheTrainersLogprobs) {
  for (const std::int64_t head_dim : {32, 64, 128}) {
    model_.emplace(model::Transformer::random(config_of(head_dim), 4, device_));
    const auto requests = requests_of(40);
    const auto generator = engine({.slots = 9});
    const auto completions = generate_all(*generator, requests);
    ASSERT_TRUE(completions) << completions.error().message;
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto& completion = (*completions)[i];
      EXPECT_EQ(std::ssize(completion.tokens), requests[i].sampling.max_new_tokens);
      const double temperature = requests[i].sampling.temperature;
      const auto expected =
          trainer_logprobs(*model_, completion, temperature == 0 ? 1.0 : temperature);
      const auto gap = (at::tensor(completion.logprobs) - expected).abs();
      EXPECT_LT(gap.max().item<double>(), 0.06) << i;
      sum += gap.sum().item<double>(), count += static_cast<double>(gap.numel());
    }
    // The limit is the error of float16 with these untrained weights. A wrong token would cost
    // whole nats.
    EXPECT_LT(sum / count, 0.004);
    EXPECT_EQ(generator->counts().prompts_computed + generator->counts().prompts_shared, 40u);
    EXPECT_LT(generator->counts().prompts_computed, 20u);
  }
}

TEST_F(CudaEngineTest, DrawsTheSameTokensOnEveryRunAndMostlyInEveryBatch) {
  auto requests = requests_of(30);
  const auto run = [&](int slots) {
    auto completions = generate_all(*engine({.slots = slots}), requests);
    EXPECT_TRUE(completions) << completions.error().message;
    return *completions;
  };
  const auto together = run(16), again = run(16), few = run(3);
  int equal = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(together[i].tokens, again[i].tokens);
    EXPECT_EQ(together[i].logprobs, again[i].logprobs);
    equal += together[i].tokens == few[i].tokens;
  }
  EXPECT_GT(equal, 15);  // rounding differs between batch sizes and may decide a near tie
}

// Only the last digits of log-softmax may differ. One sum in another order would cost a thousand
// times more in bfloat16.
TEST_F(CudaEngineTest, WithEqualSumsItHasTheTrainersLogprobsAndTheSameTokensInEveryBatch) {
  // The last model has such a deep MLP that its sums are taken in parts.
  using model::Precision;
  for (const auto& [head_dim, inner, precision] : {std::tuple{32, 0, Precision::bfloat16},
                                                   {64, 0, Precision::bfloat16},
                                                   {128, 0, Precision::bfloat16},
                                                   {64, 8192, Precision::bfloat16},
                                                   {64, 0, Precision::float16},
                                                   {128, 8192, Precision::float16}}) {
    model::ModelConfig config = config_of(head_dim);
    if (inner > 0) config.intermediate_size = inner;
    model_.emplace(model::Transformer::random(config, 4, device_));
    model_->set_precision(precision);
    model_->set_sums(model::Sums::equal);
    const auto requests = requests_of(40);
    const auto completions = generate_all(*engine({.slots = 9}), requests);
    ASSERT_TRUE(completions) << completions.error().message;
    const auto others = generate_all(*engine({.slots = 32}), requests);
    ASSERT_TRUE(others) << others.error().message;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto& completion = (*completions)[i];
      EXPECT_EQ(completion.tokens, (*others)[i].tokens) << i;
      const double temperature = requests[i].sampling.temperature;
      const auto expected =
          trainer_logprobs(*model_, completion, temperature == 0 ? 1.0 : temperature);
      EXPECT_LT((at::tensor(completion.logprobs) - expected).abs().max().item<double>(), 5e-5) << i;
    }
  }
}

TEST_F(CudaEngineTest, ServesMoreThanTheCacheHoldsAtOnce) {
  const auto requests = requests_of(60);
  const int pages = 14;
  const auto bytes = CudaDecoder::page_bytes(model_->config());
  const auto mib = static_cast<int>(bytes * pages / (1 << 20)) + 1;
  const auto generator = engine({.slots = 16, .cache_mib = mib});
  const auto completions = generate_all(*generator, requests);
  ASSERT_TRUE(completions) << completions.error().message;
  for (std::size_t i = 0; i < requests.size(); ++i)
    EXPECT_EQ(std::ssize((*completions)[i].tokens), requests[i].sampling.max_new_tokens);
}

TEST_F(CudaEngineTest, StopsAtStopTokensForgetsWhatIsCancelledAndReadsNewWeights) {
  GenerationRequest request{.id = 1, .prompt = prompt_of(1, 70)};
  request.sampling = {.temperature = 0, .max_new_tokens = 40};
  const auto generator = engine({.slots = 4});
  const auto whole = *generate_all(*generator, std::vector{request});
  request.stop_tokens = {whole[0].tokens[5]};
  const auto cut = *generate_all(*generator, std::vector{request});
  EXPECT_EQ(cut[0].finish, FinishReason::stop);
  EXPECT_LE(cut[0].tokens.size(), 6u);
  EXPECT_EQ(cut[0].tokens.back(), whole[0].tokens[5]);

  for (std::uint64_t i = 0; i < 8; ++i)
    ASSERT_TRUE(generator->submit(
        {.id = i, .prompt = prompt_of(i, 4), .sampling = {.max_new_tokens = 4 + int(i)}}));
  ASSERT_TRUE(generator->next());
  generator->cancel(2);
  generator->cancel(7);
  std::set<std::uint64_t> rest;
  for (auto next = generator->next(); next && *next; next = generator->next())
    rest.insert((*next)->id);
  EXPECT_FALSE(rest.contains(2) || rest.contains(7));
  EXPECT_EQ(rest.size(), 5u);

  {
    const at::NoGradGuard no_grad;
    for (const auto& each : model_->parameters()) each.tensor.mul_(1.05);
  }
  request.stop_tokens = {};
  const auto after = *generate_all(*generator, std::vector{request});
  const auto expected = trainer_logprobs(*model_, after[0], 1.0);
  EXPECT_LT((at::tensor(after[0].logprobs) - expected).abs().mean().item<double>(), 0.02);
  EXPECT_NE(after[0].logprobs, whole[0].logprobs);
}

TEST_F(CudaEngineTest, SaysSoWhenTheWeightsAreDamagedOrTheCacheIsTooSmall) {
  const auto generator = engine({.slots = 2});
  {
    const at::NoGradGuard no_grad;
    model_->final_norm().fill_(std::nan(""));
  }
  ASSERT_TRUE(generator->submit({.id = 1, .prompt = {1}, .sampling = {.max_new_tokens = 4}}));
  const auto result = generator->next();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::generate::engine
