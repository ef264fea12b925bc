// Decoding and training on a GPU at the shape of Qwen2.5-Coder-3B with random weights, for
// comparison with bench/transformers_speed.py. Each measurement prints one line: name, value, unit.
// kHelp below lists the arguments.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "generate/engine/cuda_engine.h"
#include "model/cuda/kernels.h"
#include "model/layers/linear_logprob.h"
#include "model/memory/device.h"
#include "train/gradient/token_gradient.h"
#include "train/optimizer/adamw.h"

namespace tritonsmith {
namespace {

constexpr const char* kHelp =
    "model_speed WHAT [NUMBERS] [WORDS]\n"
    "  decode [ROWS=64 CONTEXT=2048 NEW=128]\n"
    "      tokens a second that the engine decodes: ROWS sequences around that context\n"
    "  train [SEQUENCES=8 LENGTH=2048 BUDGET=8192]\n"
    "      tokens a second of training steps in micro-batches of BUDGET tokens, their share of\n"
    "      989 TFLOP/s, milliseconds of the optimizer, gigabytes in use\n"
    "  group [GROUPS=8 SAMPLES=8 PROMPT=650 ANSWER=420 BUDGET=16384]\n"
    "      training on samples of shared prompts: each prompt computed for every sample, and once\n"
    "      (optimizer.share_prompts)\n"
    "  gap [SEQUENCES=32 CONTEXT=1024 NEW=256]\n"
    "      |log-probability of the trainer minus the engine's| on tokens of the engine: with "
    "random\n"
    "      weights, and again once they have been trained to be sure\n"
    "words: bfloat16 (else float16), equal (sums, model/config/sums.h; else fast), recompute "
    "(layers in "
    "the\n"
    "backward), 1.5b (that model's shape; else Coder-3B's)\n";

model::ModelConfig coder_3b() {
  model::ModelConfig config;
  config.vocab_size = 151936;
  config.hidden_size = 2048;
  config.intermediate_size = 11008;
  config.num_hidden_layers = 36;
  config.num_attention_heads = 16;
  config.num_key_value_heads = 2;
  config.head_dim = 128;
  config.max_position_embeddings = 32768;
  config.rope_theta = 1e6;
  return config;
}

model::ModelConfig coder_1_5b() {
  model::ModelConfig config = coder_3b();
  config.hidden_size = 1536;
  config.intermediate_size = 8960;
  config.num_hidden_layers = 28;
  config.num_attention_heads = 12;
  config.tie_word_embeddings = true;
  return config;
}

model::Transformer random_model(const model::ModelConfig& config, c10::Device device) {
  model::Transformer model(config, device);
  const at::NoGradGuard no_grad;
  at::manual_seed(1);
  for (const auto& [name, tensor] : model.parameters()) {
    at::Tensor weights = tensor;
    if (name.ends_with("norm.weight"))
      weights.fill_(1);
    else if (!name.ends_with(".bias"))
      weights.normal_(0, 0.02);
  }
  return model;
}

// Returns the way of computing for the names of measurements; empty for an engine's default.
std::string way_of(const model::Transformer& model) {
  std::string way;
  if (model.precision() == model::Precision::bfloat16) way += "_bfloat16";
  if (model.sums() == model::Sums::equal) way += "_equal";
  return way;
}

double used_gb() {
  std::size_t free_bytes = 0, total = 0;
  model::cuda::kernels()->runtime.memory(&free_bytes, &total);
  return static_cast<double>(total - free_bytes) / 1e9;
}

void synchronize(c10::Device device) {
  model::cuda::kernels()->runtime.synchronize(model::current_stream(device));
}

generate::GenerationRequest request_of(int index, int prompt, int tokens) {
  generate::GenerationRequest request{.id = static_cast<std::uint64_t>(index),
                                      .sampling = {.max_new_tokens = tokens},
                                      .seed = static_cast<std::uint64_t>(index)};
  Rng rng(1, "prompt", static_cast<std::uint64_t>(index));
  for (int t = 0; t < prompt; ++t)
    request.prompt.push_back(static_cast<TokenId>(rng.below(151936)));
  return request;
}

// Returns the difference between the engine's log-probabilities of its own tokens and the
// trainer's.
at::Tensor gap_of(const model::Transformer& model, const Completion& completion) {
  const at::NoGradGuard no_grad;
  std::vector<TokenId> sequence = completion.prompt;
  sequence.insert(sequence.end(), completion.tokens.begin(), completion.tokens.end());
  const auto batch = model::pack(std::vector<std::vector<TokenId>>{sequence}, model.device());
  const auto count = std::ssize(completion.tokens), begin = std::ssize(completion.prompt);
  const at::Tensor hidden = model.forward(batch).narrow(0, begin - 1, count);
  const auto expected =
      model::linear_logprob(hidden, model.head_weight(), batch.tokens.narrow(0, begin, count), 1.0);
  return (at::tensor(completion.logprobs) - expected.logprob.to(at::kCPU)).abs();
}

void print_gap(const std::string& name, const at::Tensor& gap) {
  const at::Tensor sorted = std::get<0>(gap.sort());
  const auto quantile = [&](double share) {
    return sorted[static_cast<std::int64_t>(share * static_cast<double>(gap.numel() - 1))]
        .item<double>();
  };
  fmt::print("{}_mean\t{:.5f}\tnats\n", name, gap.mean().item<double>());
  for (const int percent : {50, 95, 99, 100})
    fmt::print("{}_p{}\t{:.5f}\tnats\n", name, percent, quantile(percent / 100.0));
}

// The last request is short. Once it is finished, all prompts have been read and every slot
// decodes. The clock then runs until the first long request ends.
Status decode(const model::Transformer& model, int rows, int context, int tokens) {
  constexpr int kShort = 8, kPrefill = 8192;
  const int prompt = context - tokens / 2;
  const int rounds = (rows * prompt + kPrefill - 1) / kPrefill;  // a decode step after each
  TRY_ASSIGN(const auto engine, generate::engine::CudaEngine::make(
                                    model, {.slots = rows,
                                            .max_length = context + tokens + rounds + kShort,
                                            .prefill_tokens = kPrefill}));
  for (int pass = 0; pass < 2; ++pass) {  // kernels are chosen and graphs made in the first
    const Stopwatch prefill;
    for (int i = 0; i < rows; ++i) {
      const bool is_last = i + 1 == rows;
      TRY(engine->submit(request_of(i, prompt, is_last ? kShort : kShort + rounds + tokens)));
    }
    TRY(engine->next());
    const double prefill_seconds = prefill.seconds();
    const auto before = engine->counts().tokens_decoded;
    const Stopwatch watch;
    TRY_ASSIGN(const auto first, engine->next());
    const double seconds = watch.seconds();
    const auto count = static_cast<double>(engine->counts().tokens_decoded - before);
    for (bool is_left = true; is_left;) {
      TRY_ASSIGN(const auto generated, engine->next());
      is_left = generated.has_value();
    }
    if (pass == 0) continue;
    const auto name = fmt::format("{}x{}{}", rows, context, way_of(model));
    print_gap("gap_" + name, gap_of(model, first->completion));
    fmt::print("decode_{}\t{:.0f}\ttokens/s\n", name, count / seconds);
    fmt::print("decode_{}_step\t{:.3f}\tms\n", name, 1e3 * seconds / count * rows);
    fmt::print("prefill_{}\t{:.0f}\ttokens/s\n", name,
               static_cast<double>(rows) * prompt / prefill_seconds);
    fmt::print("decode_{}_memory\t{:.1f}\tGB\n", name, used_gb());
  }
  return ok();
}

std::vector<train::TrainingSequence> sequences_of(int count, int length) {
  std::vector<train::TrainingSequence> all;
  for (int i = 0; i < count; ++i) {
    Rng rng(2, "sequence", static_cast<std::uint64_t>(i));
    train::TrainingSequence sequence{.prompt_length = 1};
    for (int t = 0; t <= length; ++t)
      sequence.tokens.push_back(static_cast<TokenId>(rng.below(151936)));
    all.push_back(std::move(sequence));
  }
  return all;
}

struct TrainingCost {
  double seconds = 0, optimizer_seconds = 0;
};

TrainingCost train_step(model::Transformer& model, train::FlatParameters& flat,
                        train::AdamWState& state, std::span<const train::MicroBatch> batches) {
  const Stopwatch watch;
  flat.zero_gradients();
  const auto coefficients = [](const train::TokensNow& now) {
    return train::TokenGradient{.logprob = at::full_like(now.logprob, -1e-4), .entropy = {}};
  };
  for (const train::MicroBatch& batch : batches)
    train::add_token_gradient(model, batch, 1.0, train::Dependence::token, coefficients);
  synchronize(model.device());
  const Stopwatch optimizer;
  const train::Clipping clipped = train::clipping(flat, 1.0);
  train::adamw_update(flat, state, {},
                      {.learning_rate = 1e-6,
                       .gradient_scale = clipped.scale,
                       .half = model.half_weights()->flat()});
  synchronize(model.device());
  return {.seconds = watch.seconds(), .optimizer_seconds = optimizer.seconds()};
}

// Counts products and causal attention, forward and backward, as 6ND + attention.
double flops_of(const model::ModelConfig& c, double parameters, int count, int length) {
  const double tokens = static_cast<double>(count) * length;
  const double attention =
      6.0 * static_cast<double>(c.num_hidden_layers * c.query_size()) * static_cast<double>(length);
  return tokens * (6.0 * parameters + attention);
}

// A model with its optimizer's memory.
struct Trained {
  explicit Trained(model::Transformer& trained)
      : model(trained),
        flat(model::tensors_of(trained.parameters())),
        state(train::AdamWState::zeros_like(flat)) {}
  model::Transformer& model;
  train::FlatParameters flat;
  train::AdamWState state;
};

TrainingCost median_step(Trained& trained, std::span<const train::MicroBatch> batches) {
  std::vector<TrainingCost> costs;
  const auto step = [&] { return train_step(trained.model, trained.flat, trained.state, batches); };
  // Within the first steps, the kernels of frequent shapes are chosen by measurement.
  constexpr int kWarmUp = 6, kSteps = 5;
  for (int i = 0; i < kWarmUp; ++i) step();
  for (int i = 0; i < kSteps; ++i) costs.push_back(step());
  std::ranges::sort(costs, {}, &TrainingCost::seconds);
  return costs[costs.size() / 2];
}

std::vector<std::size_t> all_of(std::span<const train::TrainingSequence> sequences) {
  std::vector<std::size_t> members(sequences.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  return members;
}

Status train(model::Transformer& model, int count, int length, int budget) {
  Trained trained(model);
  const auto sequences = sequences_of(count, length);
  const auto batches =
      train::make_micro_batches(sequences, all_of(sequences), {.budget = budget}, model.device());
  const TrainingCost median = median_step(trained, batches);
  const double flops =
      flops_of(model.config(), static_cast<double>(trained.flat.parameter_count()), count, length);
  const auto name =
      fmt::format("train_{}x{}_by_{}_{}{}", count, length, budget, name_of(model.precision()),
                  model.sums() == model::Sums::equal ? "_equal" : "");
  fmt::print("{}\t{:.0f}\ttokens/s\n", name, count * length / median.seconds);
  fmt::print("{}_of_peak\t{:.1f}\t%\n", name, 100 * flops / median.seconds / 989e12);
  fmt::print("{}_optimizer\t{:.1f}\tms\n", name, 1e3 * median.optimizer_seconds);
  fmt::print("{}_memory\t{:.1f}\tGB\n", name, used_gb());
  return ok();
}

struct GroupWork {
  int groups = 0, samples = 0, prompt = 0, answer = 0, budget = 0;
};

// Answers of different lengths, from half of `answer` to one and a half.
std::vector<train::TrainingSequence> samples_of(const GroupWork& work) {
  std::vector<train::TrainingSequence> all;
  for (int group = 0; group < work.groups; ++group) {
    Rng rng(4, "group", static_cast<std::uint64_t>(group));
    std::vector<TokenId> prompt;
    for (int t = 0; t < work.prompt; ++t) prompt.push_back(static_cast<TokenId>(rng.below(151936)));
    for (int i = 0; i < work.samples; ++i) {
      auto& sample = all.emplace_back();
      sample.tokens = prompt;
      sample.prompt_length = prompt.size();
      const auto length = work.answer / 2 + work.answer * i / std::max(work.samples - 1, 1);
      for (int t = 0; t < length; ++t)
        sample.tokens.push_back(static_cast<TokenId>(rng.below(151936)));
    }
  }
  return all;
}

Status group(model::Transformer& model, const GroupWork& work) {
  Trained trained(model);
  const auto samples = samples_of(work);
  double whole = 0;
  for (const bool shares : {false, true}) {
    const auto batches = train::make_micro_batches(
        samples, all_of(samples), {.budget = work.budget, .shares_prompts = shares},
        model.device());
    std::int64_t tokens = 0;
    for (const train::MicroBatch& batch : batches) tokens += batch.packed.length();
    const TrainingCost median = median_step(trained, batches);
    const auto name =
        fmt::format("group_{}x{}_{}+{}_by_{}{}_{}", work.groups, work.samples, work.prompt,
                    work.answer, work.budget, way_of(model), shares ? "shared" : "whole");
    const double seconds = median.seconds - median.optimizer_seconds;
    fmt::print("{}_gradient\t{:.1f}\tms\n", name, 1e3 * seconds);
    fmt::print("{}_computed\t{}\ttokens\n", name, tokens);
    fmt::print("{}_speed\t{:.0f}\tcomputed tokens/s\n", name,
               static_cast<double>(tokens) / seconds);
    if (shares) fmt::print("{}_faster\t{:.2f}\ttimes\n", name, whole / seconds);
    whole = seconds;
  }
  return ok();
}

// Text of low entropy: one of four tokens follows each of kKnown tokens, with odds 8 : 4 : 3 : 1
// (1.18 nats).
constexpr std::uint64_t kKnown = 1024;
TokenId next_token(TokenId last, Rng& rng) {
  const std::uint64_t draw = rng.below(16);
  const auto which = draw < 8 ? 0u : draw < 12 ? 1u : draw < 15 ? 2u : 3u;
  return static_cast<TokenId>((static_cast<std::uint64_t>(last) * 4 + which) * 0x9E3779B1u %
                              kKnown);
}
std::vector<TokenId> chain(std::uint64_t index, int length) {
  Rng rng(3, "chain", index);
  std::vector<TokenId> tokens = {static_cast<TokenId>(rng.below(kKnown))};
  while (std::ssize(tokens) < length) tokens.push_back(next_token(tokens.back(), rng));
  return tokens;
}

// Trains until a token costs less than `nats`. Returns the cost in the last steps.
double train_to(model::Transformer& model, double nats, int most_steps) {
  train::FlatParameters flat(model::tensors_of(model.parameters()));
  auto state = train::AdamWState::zeros_like(flat);
  constexpr std::size_t kSequences = 16;
  const std::vector<std::size_t> members = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  double cost = 1e9;
  for (int step = 0; step < most_steps && cost > nats; ++step) {
    std::vector<train::TrainingSequence> sequences;
    for (std::size_t i = 0; i < kSequences; ++i)
      sequences.push_back(
          {.tokens = chain(1000 + kSequences * static_cast<std::size_t>(step) + i, 513),
           .prompt_length = 1});
    const auto batches = train::make_micro_batches(sequences, members, {}, model.device());
    flat.zero_gradients();
    double sum = 0, count = 0;
    for (const train::MicroBatch& batch : batches) {
      const auto now = train::forward_tokens(model, batch, 1.0);
      now.logprob.backward(at::full_like(now.logprob, -1.0 / (kSequences * 512)));
      sum -= now.logprob.detach().sum().item<double>();
      count += static_cast<double>(now.logprob.numel());
    }
    cost = sum / count;
    const train::Clipping clipped = train::clipping(flat, 1.0);
    train::adamw_update(flat, state, {},
                        {.learning_rate = 2e-4 * std::min(1.0, (step + 1) / 20.0),
                         .gradient_scale = clipped.scale,
                         .half = model.half_weights()->flat()});
    if (step % 20 == 0) fmt::print("training_step_{}\t{:.3f}\tnats\n", step, cost);
  }
  return cost;
}

struct GapWork {
  int sequences = 0, prompt = 0, tokens = 0;
};

Status measure_gap(const model::Transformer& model, const std::string& name, const GapWork& work) {
  TRY_ASSIGN(const auto engine,
             generate::engine::CudaEngine::make(
                 model, {.slots = work.sequences, .max_length = work.prompt + work.tokens}));
  for (int i = 0; i < work.sequences; ++i) {
    auto request = request_of(i, 0, work.tokens);
    request.prompt = chain(static_cast<std::uint64_t>(i), work.prompt);
    TRY(engine->submit(std::move(request)));
  }
  std::vector<at::Tensor> gaps;
  double nats = 0;
  for (;;) {
    TRY_ASSIGN(const auto generated, engine->next());
    if (!generated) break;
    gaps.push_back(gap_of(model, generated->completion));
    nats -= at::tensor(generated->completion.logprobs).mean().item<double>();
  }
  fmt::print("{}_cost\t{:.3f}\tnats a token\n", name, nats / work.sequences);
  print_gap(name, at::cat(gaps));
  return ok();
}

Status gap(model::Transformer& model, const GapWork& work) {
  TRY(measure_gap(model, "gap_random" + way_of(model), work));
  constexpr double kSure = 1.4;
  constexpr int kMostSteps = 200;
  fmt::print("trained_to\t{:.3f}\tnats\n", train_to(model, kSure, kMostSteps));
  return measure_gap(model, "gap_trained" + way_of(model), work);
}

// Removes the word from the arguments and tells whether it was there.
bool take_word(std::vector<std::string>& words, std::string_view word) {
  return std::erase(words, word) > 0;
}

// The remaining words are the measurement and its numbers.
Status check_words(const std::vector<std::string>& words) {
  constexpr std::string_view kMeasured[] = {"decode", "train", "group", "gap"};
  if (words.empty() || std::ranges::find(kMeasured, words[0]) == std::end(kMeasured))
    return fail("'{}' is nothing to measure\n{}", words.empty() ? "" : words[0], kHelp);
  const auto is_number = [](const std::string& word) { return std::atoi(word.c_str()) > 0; };
  const auto stray = std::ranges::find_if_not(words.begin() + 1, words.end(), is_number);
  return stray == words.end() ? ok() : fail("'{}' is no number here\n{}", *stray, kHelp);
}

Status run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (take_word(words, "help") || take_word(words, "--help")) {
    fmt::print("{}", kHelp);
    return ok();
  }
  const bool is_bfloat16 = take_word(words, "bfloat16");
  const bool recomputes = take_word(words, "recompute"), is_equal = take_word(words, "equal"),
             is_small = take_word(words, "1.5b");
  TRY(check_words(words));
  const auto number = [&](std::size_t i, int fallback) {
    return words.size() > i ? std::atoi(words[i].c_str()) : fallback;
  };
  TRY_ASSIGN(const c10::Device device, model::open_device(model::DeviceChoice::cuda));
  if (model::cuda::kernels() == nullptr) return fail("this build has no CUDA kernels");
  auto model = random_model(is_small ? coder_1_5b() : coder_3b(), device);
  model.set_precision(is_bfloat16 ? model::Precision::bfloat16 : model::Precision::float16);
  if (is_equal) model.set_sums(model::Sums::equal);
  if (recomputes) model.set_recompute(model::Recompute::layers);
  const std::string& what = words[0];
  if (what == "train") return train(model, number(1, 8), number(2, 2048), number(3, 8192));
  if (what == "group")
    return group(model, {.groups = number(1, 8),
                         .samples = number(2, 8),
                         .prompt = number(3, 650),
                         .answer = number(4, 420),
                         .budget = number(5, 16384)});
  if (what == "gap")
    return gap(model,
               {.sequences = number(1, 32), .prompt = number(2, 1024), .tokens = number(3, 256)});
  return decode(model, number(1, 64), number(2, 2048), number(3, 128));
}

}  // namespace
}  // namespace tritonsmith

int main(int argc, char** argv) {
  const auto status = tritonsmith::run(argc, argv);
  if (!status) fmt::print(stderr, "model_speed: {}\n", status.error().message);
  return status ? 0 : 1;
}
