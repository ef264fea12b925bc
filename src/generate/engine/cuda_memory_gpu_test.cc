// Compares the engine's stated GPU memory with the memory that it takes under any requests. Also
// tests prompts longer than a chunk. Skips without a GPU or without kernels in the build.
#include <c10/core/CachingDeviceAllocator.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "generate/engine/cuda_engine.h"
#include "model/layers/testing/on_gpu.h"

namespace tritonsmith::generate::engine {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class CudaMemory : public model::OnGpuBy<model::Sums, 1> {
 protected:
  // The model is so wide that computing prompts takes more memory than the cache.
  model::Transformer wide_model() const {
    auto model = model::Transformer::random({.vocab_size = 20000,
                                             .hidden_size = 1024,
                                             .intermediate_size = 4096,
                                             .num_hidden_layers = 2,
                                             .num_attention_heads = 8,
                                             .num_key_value_heads = 2,
                                             .head_dim = 128,
                                             .max_position_embeddings = 9000,
                                             .initializer_range = 0.02},
                                            5, device_);
    model.set_precision(model::Precision::bfloat16);
    model.set_sums(GetParam());
    return model;
  }
  c10::DeviceAllocator& allocator() const { return *c10::getDeviceAllocator(device_.type()); }
  c10::CachingAllocator::Stat held() const {
    const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return allocator().getDeviceStats(device_.index()).allocated_bytes[all];
  }
};
INSTANTIATE_TEST_SUITE_P(Sums, CudaMemory,
                         ::testing::Values(model::Sums::fast, model::Sums::equal));

GenerationRequest request_of(std::uint64_t id, int length, int tokens) {
  Rng rng(2, "prompt", id);
  GenerationRequest request{.id = id};
  for (int i = 0; i < length; ++i) request.prompt.push_back(static_cast<TokenId>(rng.below(20000)));
  request.seed = id;
  request.sampling.max_new_tokens = tokens;
  return request;
}

TEST_P(CudaMemory, TheEngineTakesNoMoreThanItSaid) {
  const model::Transformer model = wide_model();
  ASSERT_NE(model.half_weights(), nullptr);  // these belong to the model, not to the engine
  const std::int64_t before = held().current;
  allocator().resetPeakStats(device_.index());
  const auto engine =
      CudaEngine::make(model, {.slots = 40, .prefill_tokens = 2048, .cache_mib = 60});
  ASSERT_TRUE(engine) << engine.error().message;
  // Many prompts are computed together, some have exactly the limit, and some are longer.
  std::vector<GenerationRequest> requests;
  for (std::uint64_t i = 0; i < 90; ++i) {
    const int length = i % 30 == 7 ? 8000 : i % 30 == 8 ? 2048 : 20 + static_cast<int>(i) * 9;
    requests.push_back(request_of(i, length, 5));
  }
  const auto completions = generate_all(**engine, requests);
  ASSERT_TRUE(completions) << completions.error().message;
  const std::int64_t taken = held().peak - before;
  EXPECT_LE(taken, (*engine)->most_bytes());
  // The stated memory is not many times the real one either.
  EXPECT_GT(4 * taken, (*engine)->most_bytes()) << taken / kMiB << " MiB";
}

TEST_P(CudaMemory, APromptReadInPiecesIsThatReadAtOnce) {
  const model::Transformer model = wide_model();
  std::vector<GenerationRequest> requests;
  // Chunks end within a page or at its end, and one last chunk has a single token.
  for (const int length : {3000, 1025, 2048, 1153, 700})
    requests.push_back(request_of(requests.size(), length, 12));
  std::vector<std::vector<Completion>> both;
  for (const int at_once : {1024, 9000, 100}) {
    const auto engine = CudaEngine::make(model, {.slots = 8, .prefill_tokens = at_once});
    ASSERT_TRUE(engine) << engine.error().message;
    const auto completions = generate_all(**engine, requests);
    ASSERT_TRUE(completions) << completions.error().message;
    both.push_back(*completions);
  }
  int same = 0;
  for (const std::size_t pieces : {0u, 2u})
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Completion &got = both[pieces][i], &expected = both[1][i];
      if (GetParam() == model::Sums::equal) {
        EXPECT_EQ(got.tokens, expected.tokens) << i;
        EXPECT_EQ(got.logprobs, expected.logprobs) << i;
      }
      if (got.tokens[0] != expected.tokens[0]) continue;  // a near tie
      ++same;
      // The limit is the error of bfloat16. A wrong key would cost tenths.
      EXPECT_NEAR(got.logprobs[0], expected.logprobs[0], 0.05) << i;
    }
  EXPECT_GE(same, 8);
}

}  // namespace
}  // namespace tritonsmith::generate::engine
