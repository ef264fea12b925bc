// Sampled tokens per second of the quickstart's model on this machine: groups of samples of shared
// prompts, continuous batching, temperature 1. The untrained model never stops by itself, so every
// completion has its full length.
//   rollout_throughput [slots] [samples] [prompt tokens] [new tokens] [threads]
#include <ATen/Parallel.h>

#include <cstdlib>
#include <ctime>

#include "base/clock.h"
#include "base/rng.h"
#include "generate/engine/engine.h"

namespace tritonsmith::generate::engine {
namespace {

int run(int slots, int samples, int prompt_tokens, int new_tokens) {
  constexpr int kGroup = 8;
  const model::ModelConfig config;
  const auto model = model::Transformer::random(config, 1);
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < samples; ++i) {
    Rng rng(1, "prompt", static_cast<std::uint64_t>(i / kGroup));
    GenerationRequest request{
        .id = static_cast<std::uint64_t>(i),
        .sampling = {.max_new_tokens = new_tokens - i * 13 % (new_tokens / 2)},
        .seed = static_cast<std::uint64_t>(i)};
    for (int t = 0; t < prompt_tokens; ++t)
      request.prompt.push_back(static_cast<TokenId>(rng.below(1024)));
    requests.push_back(request);
  }
  Engine engine(model, {.slots = slots});
  for (int round = 0; round < 5; ++round) {
    const auto before = engine.counts().tokens_decoded;
    const Stopwatch watch;
    const std::clock_t cpu = std::clock();
    const auto completions = generate_all(engine, requests);
    if (!completions) return 1;
    const auto tokens = static_cast<double>(engine.counts().tokens_decoded - before);
    const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    fmt::print("{} slots, {} samples: {:.0f} tokens/s, {:.0f} a CPU second\n", slots, samples,
               tokens / watch.seconds(), tokens / cpu_seconds);
  }
  return 0;
}

}  // namespace
}  // namespace tritonsmith::generate::engine

int main(int argc, char** argv) {
  const auto argument = [&](int i, int fallback) {
    return argc > i ? std::atoi(argv[i]) : fallback;
  };
  at::set_num_threads(argument(5, 2));
  return tritonsmith::generate::engine::run(argument(1, 64), argument(2, 192), argument(3, 100),
                                            argument(4, 200));
}
