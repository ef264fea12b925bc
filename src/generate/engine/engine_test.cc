#include "generate/engine/engine.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/rng.h"
#include "generate/engine/aten_decoder.h"
#include "generate/engine/cpu_decoder.h"
#include "generate/engine/sampler.h"
#include "model/layers/linear_logprob.h"

namespace tritonsmith::generate::engine {
namespace {

model::ModelConfig tiny(model::Family family = model::Family::qwen2) {
  return {.family = family,
          .vocab_size = 61,
          .hidden_size = 40,
          .intermediate_size = 72,
          .num_hidden_layers = 3,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .head_dim = 10,
          .max_position_embeddings = 200,
          .initializer_range = 0.25};
}

// Makes a random model. Biases and norms are random, too.
model::Transformer model_of(model::Family family) {
  auto model = model::Transformer::random(tiny(family), 4);
  const at::NoGradGuard no_grad;
  at::manual_seed(1);
  for (const auto& each : model.parameters())
    if (each.tensor.dim() == 1) each.tensor.add_(at::randn_like(each.tensor) * 0.2);
  return model;
}

const model::Transformer& tiny_model() {
  static const auto model = model::Transformer::random(tiny(), 4);
  return model;
}

std::vector<TokenId> prompt_of(std::uint64_t index, int length) {
  Rng rng(1, "prompt", index);
  std::vector<TokenId> prompt;
  for (int i = 0; i < length; ++i) prompt.push_back(static_cast<TokenId>(rng.below(61)));
  return prompt;
}

// Returns requests of many lengths and temperatures. Every third shares its prompt with the one
// before it.
std::vector<GenerationRequest> requests_of(int count) {
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < count; ++i) {
    GenerationRequest request{.id = static_cast<std::uint64_t>(i), .seed = 100u + i};
    request.prompt = i % 3 == 2 ? requests.back().prompt : prompt_of(i, 1 + i * 7 % 40);
    request.sampling = {.temperature = i % 4 == 3 ? 0.0 : 0.5 + 0.25 * (i % 4),
                        .top_p = i % 5 == 1 ? 0.8 : 1.0,
                        .top_k = i % 5 == 2 ? 7 : 0,
                        .max_new_tokens = 3 + i * 5 % 30};
    request.stop_tokens = {5, 6};
    requests.push_back(request);
  }
  return requests;
}

std::vector<Completion> generate(int slots, const std::vector<GenerationRequest>& requests,
                                 const model::Transformer& model = tiny_model()) {
  Engine engine(model, {.slots = slots});
  auto completions = generate_all(engine, requests);
  EXPECT_TRUE(completions) << completions.error().message;
  return *completions;
}

TEST(Engine, ASampleDoesNotDependOnWhatElseIsInTheBatch) {
  const auto requests = requests_of(30);
  const auto together = generate(16, requests), few = generate(3, requests);
  auto reversed = requests;
  std::ranges::reverse(reversed);
  auto backwards = generate(7, reversed);
  std::ranges::reverse(backwards);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto alone = generate(1, {requests[i]}).front();
    for (const Completion* other :
         std::initializer_list<const Completion*>{&together[i], &few[i], &backwards[i]}) {
      EXPECT_EQ(alone.tokens, other->tokens);
      EXPECT_EQ(alone.logprobs, other->logprobs);  // bit for bit
      EXPECT_EQ(alone.finish, other->finish);
    }
  }
}

TEST(Engine, AnInterruptedCallReturnsAfterOneStep) {
  Engine engine(tiny_model(), {.slots = 1});
  ASSERT_TRUE(engine.submit({.id = 1, .prompt = {7}, .sampling = {.max_new_tokens = 20}}));
  engine.interrupt();
  const auto nothing = engine.next();
  ASSERT_TRUE(nothing.has_value());
  EXPECT_FALSE(nothing->has_value());
  EXPECT_EQ(engine.counts().tokens_decoded, 2U) << "the prompt's and the step's";
  const auto generated = engine.next();
  ASSERT_TRUE(generated && *generated);
  EXPECT_EQ((*generated)->completion.tokens.size(), 20U);
}

// Returns the trainer's log-probabilities of a completion's tokens.
at::Tensor trainer_logprobs(const model::Transformer& model, const Completion& completion,
                            double temperature) {
  const at::NoGradGuard no_grad;
  std::vector<TokenId> sequence = completion.prompt;
  sequence.insert(sequence.end(), completion.tokens.begin(), completion.tokens.end());
  const auto batch = model::pack(std::vector<std::vector<TokenId>>{sequence}, c10::kCPU);
  const auto hidden = model.forward(batch);
  const auto first = std::ssize(completion.prompt) - 1, count = std::ssize(completion.tokens);
  return model::linear_logprob(hidden.narrow(0, first, count), model.head_weight(),
                               batch.tokens.narrow(0, first + 1, count), temperature)
      .logprob;
}

TEST(Engine, GivesTheTrainersLogprobsBitForBit) {
  const auto requests = requests_of(30);
  for (const auto family : {model::Family::qwen2, model::Family::qwen3, model::Family::llama}) {
    const auto model = model_of(family);
    const auto completions = generate(8, requests, model);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const double temperature = requests[i].sampling.temperature;
      const auto expected =
          trainer_logprobs(model, completions[i], temperature == 0 ? 1.0 : temperature);
      const auto got = at::tensor(completions[i].logprobs);
      EXPECT_TRUE(at::equal(got, expected)) << name_of(family) << " " << i;
    }
  }
}

TEST(Engine, ComputesAPromptOnceForAllItsSamples) {
  Engine engine(tiny_model(), {.slots = 4});
  std::vector<GenerationRequest> requests;
  for (std::uint64_t i = 0; i < 20; ++i)
    requests.push_back({.id = i,
                        .prompt = prompt_of(i / 10, 20),
                        .sampling = {.max_new_tokens = 1 + static_cast<int>(i % 7)},
                        .seed = i});
  const auto completions = generate_all(engine, requests);
  ASSERT_TRUE(completions);
  EXPECT_EQ(engine.counts().prompts_computed, 2u);
  EXPECT_EQ(engine.counts().prompts_shared, 18u);
  std::set<std::vector<TokenId>> different;
  for (const auto& completion : *completions) different.insert(completion.tokens);
  EXPECT_GT(different.size(), 10u);
}

TEST(Engine, CopiesAPromptBeforeItsSlotIsGivenAway) {
  Engine engine(tiny_model(), {.slots = 3});
  const auto request = [](std::uint64_t id, std::vector<TokenId> prompt, int tokens) {
    return GenerationRequest{
        .id = id, .prompt = std::move(prompt), .sampling = {.max_new_tokens = tokens}, .seed = id};
  };
  ASSERT_TRUE(engine.submit(request(1, prompt_of(1, 5), 60)));  // keeps the engine busy
  ASSERT_TRUE(engine.submit(request(2, prompt_of(2, 20), 1)));
  ASSERT_EQ((*engine.next())->id, 2u);
  // The first request gets the empty slot and copies from the other free slot. The second request
  // gets that one.
  ASSERT_TRUE(engine.submit(request(3, prompt_of(2, 20), 6)));
  ASSERT_TRUE(engine.submit(request(4, prompt_of(4, 25), 6)));
  for (int i = 0; i < 2; ++i) {
    const auto generated = **engine.next();
    const auto alone = generate(1, {request(generated.id, generated.completion.prompt, 6)}).front();
    EXPECT_EQ(generated.completion.logprobs, alone.logprobs) << generated.id;
  }
}

TEST(Engine, UsesNewWeightsForPromptsItHasSeen) {
  auto model = model::Transformer::random(tiny(), 4);
  Engine engine(model, {.slots = 2});
  const std::vector<GenerationRequest> request = {
      {.id = 1, .prompt = prompt_of(1, 9), .sampling = {.max_new_tokens = 4}, .seed = 3}};
  const auto before = generate_all(engine, request);
  {
    const at::NoGradGuard no_grad;
    for (const auto& each : model.parameters()) each.tensor.mul_(1.1);
  }
  const auto after = generate_all(engine, request);
  Engine fresh(model, {.slots = 2});
  const auto expected = generate_all(fresh, request);
  EXPECT_NE(before->front().logprobs, after->front().logprobs);
  EXPECT_EQ(after->front().logprobs, expected->front().logprobs);
}

TEST(Engine, StopsAtAStopTokenAndAtTheLimit) {
  GenerationRequest request{.id = 1, .prompt = prompt_of(1, 5)};
  request.sampling = {.temperature = 0, .max_new_tokens = 12};
  const auto whole = generate(2, {request}).front();
  EXPECT_EQ(whole.tokens.size(), 12u);
  EXPECT_EQ(whole.finish, FinishReason::length);
  request.stop_tokens = {whole.tokens[3]};
  const auto cut = generate(2, {request}).front();
  EXPECT_EQ(cut.finish, FinishReason::stop);
  EXPECT_EQ(cut.tokens.back(), whole.tokens[3]);
  EXPECT_LE(cut.tokens.size(), 4u);
}

TEST(Engine, StopsWhenTheCallerSaysThatItIsComplete) {
  GenerationRequest request{.id = 1, .prompt = prompt_of(1, 5)};
  request.sampling = {.temperature = 0, .max_new_tokens = 12};
  const auto whole = generate(2, {request}).front();
  request.is_complete = [](std::span<const TokenId> tokens) { return tokens.size() == 4; };
  std::vector<float> logprobs;
  request.on_logprob = [&](float logprob) { logprobs.push_back(logprob); };
  const auto cut = generate(2, {request}).front();
  EXPECT_EQ(cut.finish, FinishReason::stop);
  EXPECT_EQ(cut.logprobs, logprobs);
  EXPECT_EQ(cut.tokens, std::vector<TokenId>(whole.tokens.begin(), whole.tokens.begin() + 4));
}

TEST(Engine, ForgetsWhatIsCancelled) {
  Engine engine(tiny_model(), {.slots = 2});
  for (std::uint64_t i = 0; i < 6; ++i)
    ASSERT_TRUE(engine.submit(
        {.id = i, .prompt = prompt_of(i, 4), .sampling = {.max_new_tokens = 4 + int(i)}}));
  ASSERT_EQ((*engine.next())->id, 0u);
  engine.cancel(1);  // this one has a slot
  engine.cancel(5);  // this one waits
  std::set<std::uint64_t> rest;
  while (true) {
    auto generated = engine.next();
    ASSERT_TRUE(generated);
    if (!*generated) break;
    rest.insert((*generated)->id);
  }
  EXPECT_EQ(rest, (std::set<std::uint64_t>{2, 3, 4}));
}

TEST(Engine, ComesBackByTheDeadlineAndGoesOnFromThere) {
  Engine engine(tiny_model(), {.slots = 2});
  ASSERT_TRUE(
      engine.submit({.id = 9, .prompt = prompt_of(1, 4), .sampling = {.max_new_tokens = 6}}));
  int looks = 0;
  for (;; ++looks) {
    const auto generated = engine.next_by(Deadline::after(Milliseconds(0)));
    ASSERT_TRUE(generated);
    if (!*generated) continue;
    EXPECT_EQ((*generated)->completion.tokens.size(), 6U);
    break;
  }
  EXPECT_EQ(looks, 4) << "the first look admits and decodes, each later one decodes once";
}

TEST(Engine, GivesAPromptInTheCacheALargerLimit) {
  const GenerationRequest few{
      .id = 1, .prompt = prompt_of(1, 4), .sampling = {.max_new_tokens = 2}};
  GenerationRequest many = few;
  many.id = 2;
  many.sampling.max_new_tokens = 90;
  Engine fresh(tiny_model(), {.slots = 1});
  const auto expected = generate_all(fresh, std::vector{many});
  Engine engine(tiny_model(), {.slots = 1});
  const auto completions = generate_all(engine, std::vector{few, many});
  ASSERT_TRUE(expected && completions);
  EXPECT_EQ((*completions)[1].tokens, (*expected)[0].tokens);
  EXPECT_EQ((*completions)[1].logprobs, (*expected)[0].logprobs);
}

TEST(Engine, RefusesWhatItCannotServe) {
  Engine engine(tiny_model(), {.slots = 2, .max_length = 50});
  const auto error = [&](std::vector<TokenId> prompt, int room) {
    return engine
        .submit({.id = 7, .prompt = std::move(prompt), .sampling = {.max_new_tokens = room}})
        .error()
        .message;
  };
  EXPECT_EQ(error({}, 1), "the prompt is empty");
  EXPECT_EQ(error({61}, 1), "the model has no token 61: its tokens are 0 to 60");
  EXPECT_EQ(error({1, 2}, 49),
            "a prompt of 2 tokens and 49 new ones exceed the limit of 50; ask for fewer new tokens "
            "(max_tokens)");
  const auto nothing = engine.next();
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->has_value());
}

TEST(Engine, SaysSoWhenTheWeightsAreDamaged) {
  auto model = model::Transformer::random(tiny(), 4);
  {
    const at::NoGradGuard no_grad;
    model.final_norm().fill_(std::numeric_limits<float>::quiet_NaN());
  }
  Engine engine(model);
  ASSERT_TRUE(engine.submit({.id = 1, .prompt = {1}, .sampling = {.max_new_tokens = 4}}));
  const auto result = engine.next();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("damaged"), std::string::npos);
}

class AtenDecoderTest : public testing::TestWithParam<model::Family> {};
INSTANTIATE_TEST_SUITE_P(Families, AtenDecoderTest,
                         testing::Values(model::Family::qwen2, model::Family::qwen3,
                                         model::Family::llama));

TEST_P(AtenDecoderTest, AgreesWithTheKernels) {
  const auto model = model_of(GetParam());
  CpuDecoder kernels(model, 4);
  AtenDecoder aten(model, 4);
  const auto a = prompt_of(1, 9), b = prompt_of(2, 30);
  std::vector<std::vector<float>> results;
  for (Decoder* decoder : {static_cast<Decoder*>(&kernels), static_cast<Decoder*>(&aten)}) {
    std::vector<float> logits(3 * 61);
    decoder->refresh();
    for (int slot = 0; slot < 4; ++slot) decoder->reserve(slot, 40);
    const Decoder::Prompt prompts[] = {{.slot = 3, .tokens = a}, {.slot = 1, .tokens = b}};
    decoder->prefill(prompts, logits.data());
    results.push_back(logits);
    decoder->copy(1, 0, 30);
    const Decoder::Step steps[] = {{.slot = 0, .token = 4, .position = 30},
                                   {.slot = 1, .token = 9, .position = 30},
                                   {.slot = 3, .token = 4, .position = 9}};
    for (int i = 0; i < 2; ++i) {
      decoder->decode(steps, logits.data());
      results.push_back(logits);
    }
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < results[i].size(); ++j)
      ASSERT_NEAR(results[i][j], results[i + 3][j], 1e-4);
}

std::vector<float> some_logits() {
  Rng rng(3, "logits", 0);
  std::vector<float> logits;
  for (int i = 0; i < 40; ++i) logits.push_back(static_cast<float>(2 * rng.normal()));
  return logits;
}

std::map<TokenId, double> frequencies(const SamplingParams& params, int draws) {
  const auto logits = some_logits();
  std::map<TokenId, double> counts;
  for (int i = 0; i < draws; ++i)
    counts[sample_token(logits, params, static_cast<std::uint64_t>(i), 5)->token] += 1.0 / draws;
  return counts;
}

std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  std::vector<double> p;
  double sum = 0;
  for (const float z : logits) sum += p.emplace_back(std::exp(z / temperature));
  for (double& each : p) each /= sum;
  return p;
}

TEST(Sampler, DrawsTokensAsOftenAsTheyAreProbable) {
  const auto expected = softmax(some_logits(), 0.7);
  const auto got = frequencies({.temperature = 0.7}, 40000);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(got.contains(int(i)) ? got.at(int(i)) : 0.0, expected[i], 0.01);
}

TEST(Sampler, TopKAndTopPKeepTheLikeliest) {
  const auto p = softmax(some_logits(), 1.0);
  std::vector<int> order(p.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = int(i);
  std::ranges::sort(order, [&](int a, int b) { return p[a] > p[b]; });
  const auto expect_first = [&](const std::map<TokenId, double>& got, std::size_t count) {
    EXPECT_EQ(got.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(got.contains(order[i])) << i;
  };
  expect_first(frequencies({.top_k = 3}, 3000), 3);
  expect_first(frequencies({.top_p = 1e-6}, 100), 1);
  std::size_t needed = 0;
  for (double reached = 0; reached < 0.7; ++needed) reached += p[order[needed]];
  expect_first(frequencies({.top_p = 0.7}, 20000), needed);
}

TEST(Sampler, GreedyTakesTheLowestOfTheLikeliest) {
  const std::vector<float> logits = {1, 3, 2, 3};
  EXPECT_EQ(sample_token(logits, {.temperature = 0}, 1, 1)->token, 1);
}

}  // namespace
}  // namespace tritonsmith::generate::engine
