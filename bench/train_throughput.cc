// Trained tokens per second of the quickstart's model on this machine: forward, backward and AdamW
// over packed steps. It measures plain ATen with autograd and the fused CPU kernels, alternately
// within one run.
//   train_throughput [tokens a step] [length of a sequence] [threads]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "base/clock.h"
#include "model/layers/linear_logprob.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

struct Optimizer {
  explicit Optimizer(const Transformer& model) {
    for (const auto& each : model.parameters()) {
      parameters.push_back(each.tensor.detach());
      first.push_back(at::zeros_like(parameters.back()));
      second.push_back(at::zeros_like(parameters.back()));
      steps.push_back(at::zeros({}));
    }
  }
  void step(const Transformer& model) {
    std::vector<at::Tensor> gradients;
    for (const auto& each : model.parameters()) gradients.push_back(each.tensor.grad());
    for (auto& count : steps) count += 1;
    at::_fused_adamw_(parameters, gradients, first, second, {}, steps, 1e-3, 0.9, 0.95, 0.01, 1e-8,
                      false, false);
  }
  std::vector<at::Tensor> parameters, first, second, steps;
};

PackedBatch make_batch(std::int64_t tokens, std::int64_t length, std::int64_t vocabulary) {
  std::vector<std::int64_t> offsets = {0};
  while (offsets.back() < tokens) offsets.push_back(std::min(offsets.back() + length, tokens));
  return {.tokens = at::randint(vocabulary, {tokens}, at::kLong), .offsets = offsets};
}

// Processor time of all threads of this process. It shows the cost of a step on a machine with
// other work.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Cost {
  double seconds, cpu;
};

Cost step_cost(Transformer& model, Optimizer& optimizer, const PackedBatch& batch, LayerPath path) {
  model.set_layer_path(path);
  const Stopwatch watch;
  const double cpu = cpu_seconds();
  for (const auto& each : model.parameters()) each.tensor.mutable_grad() = at::Tensor();
  const auto hidden = model.forward(batch);
  const auto head = path == LayerPath::aten ? &aten_linear_logprob : &linear_logprob;
  const auto out = head(hidden, model.head_weight(), batch.tokens.roll(-1), 1.0);
  (-out.logprob.mean()).backward();
  optimizer.step(model);
  return {watch.seconds(), cpu_seconds() - cpu};
}

int run(std::int64_t tokens, std::int64_t length, int threads) {
  at::set_num_threads(threads);
  const ModelConfig config;
  auto model = Transformer::random(config, 1);
  std::int64_t weights = 0;
  for (const auto& each : model.parameters()) weights += each.tensor.numel();
  fmt::print("{} weights, {} tokens a step, sequences of {}, {} threads\n", weights, tokens, length,
             threads);
  Optimizer optimizer(model);
  const PackedBatch batch = make_batch(tokens, length, config.vocab_size);
  std::vector<Cost> plain, fused;
  for (int i = 0; i < 12; ++i) {
    plain.push_back(step_cost(model, optimizer, batch, LayerPath::aten));
    for (int j = 0; j < 3; ++j)
      fused.push_back(step_cost(model, optimizer, batch, LayerPath::automatic));
  }
  const auto report = [&](const char* name, std::vector<Cost>& costs) {
    std::ranges::sort(costs, {}, &Cost::cpu);
    const double cpu = costs[costs.size() / 2].cpu;
    std::ranges::sort(costs, {}, &Cost::seconds);
    const double best = costs.front().seconds, median = costs[costs.size() / 2].seconds;
    fmt::print("{:<6} median {:7.1f} ms a step, {:8.0f} tokens/s (best {:.0f}), {:.1f} ms of CPU\n",
               name, 1e3 * median, static_cast<double>(tokens) / median,
               static_cast<double>(tokens) / best, 1e3 * cpu);
    return median;
  };
  const double before = report("plain", plain), after = report("fused", fused);
  fmt::print("fused is {:.1f} times as fast\n", before / after);
  return 0;
}

}  // namespace
}  // namespace tritonsmith::model

int main(int argc, char** argv) {
  const auto argument = [&](int i, int fallback) {
    return argc > i ? std::atoi(argv[i]) : fallback;
  };
  return tritonsmith::model::run(argument(1, 2048), argument(2, 256), argument(3, 2));
}
