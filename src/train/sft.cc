#include "train/sft.h"

#include <ATen/ATen.h>

#include <deque>
#include <numeric>

#include "base/log.h"
#include "train/sft_gradient.h"

namespace tritonsmith::train {
namespace {

// The members of the next step: from `place` on, until the budget is full. Moves `place` on.
std::vector<std::size_t> take_step(EpochOrder& order, std::uint64_t& place,
                                   std::span<const TrainingSequence> sequences,
                                   std::int64_t budget) {
  std::vector<std::size_t> members;
  for (std::int64_t filled = 0;; ++place) {
    const std::size_t next = order.at(place);
    filled += static_cast<std::int64_t>(sequences[next].tokens.size());
    if (!members.empty() && filled > budget) return members;
    members.push_back(next);
  }
}

class SftLoop {
 public:
  SftLoop(const SftConfig& config, TrainingRun& run, std::vector<TrainingSequence> sequences)
      : config_(config),
        run_(run),
        sequences_(std::move(sequences)),
        order_(config.run.seed, "sft order", sequences_.size()) {}

  Result<SftSummary> run(const StopFlag& stop) {
    Progress progress("sft", static_cast<std::size_t>(config_.run.steps));
    for (;;) {
      TRY_ASSIGN(const bool goes_on, run_.goes_on(stop));
      if (!goes_on) break;
      TRY(without_exceptions([&] { return step(stop); }));
      progress.advance_to(
          static_cast<std::size_t>(run_.step()),
          fmt::format("loss {:.3f}, {:.0f} tokens/s", mean_loss(), tokens_per_second()));
    }
    return SftSummary{.steps = run_.step(),
                      .loss = mean_loss(),
                      .tokens_per_second = tokens_per_second(),
                      .checkpoint = run_.checkpoint_path(),
                      .is_finished = run_.is_finished()};
  }

 private:
  Status step(const StopFlag& stop) {
    const Stopwatch watch;
    std::uint64_t place = run_.state().value("place", std::uint64_t{0});
    const auto members = take_step(order_, place, sequences_, config_.data.step_tokens);
    auto gradient =
        set_sft_gradient(run_.learner(), sequences_, members, config_.optimizer.micro_batch_tokens);
    TRY(sum_over_ranks(gradient, run_.ranks()));
    TRY_ASSIGN(const auto update, run_.learner().update(config_.optimizer, config_.run.steps));
    run_.state()["place"] = place;
    const double seconds = watch.seconds();
    note(gradient, seconds);
    return run_.finish_step({{"loss", gradient.loss},
                             {"entropy", gradient.entropy},
                             {"learning_rate", update.learning_rate},
                             {"grad_norm", update.grad_norm},
                             {"epoch", order_.epochs_at(place)},
                             {"sequences", static_cast<double>(members.size())},
                             {"tokens", static_cast<double>(gradient.tokens)},
                             {"trained_tokens", static_cast<double>(gradient.trained_tokens)},
                             {"tokens_per_second", static_cast<double>(gradient.tokens) / seconds},
                             {"seconds/step", seconds}},
                            stop);
  }

  void note(const SftGradientReport& gradient, double seconds) {
    constexpr std::size_t kRecent = 20;
    recent_losses_.push_back(gradient.loss);
    if (recent_losses_.size() > kRecent) recent_losses_.pop_front();
    tokens_ += static_cast<double>(gradient.tokens);
    seconds_ += seconds;
  }
  double mean_loss() const {
    const double sum = std::accumulate(recent_losses_.begin(), recent_losses_.end(), 0.0);
    return recent_losses_.empty() ? 0 : sum / static_cast<double>(recent_losses_.size());
  }
  double tokens_per_second() const { return seconds_ > 0 ? tokens_ / seconds_ : 0; }

  const SftConfig& config_;
  TrainingRun& run_;
  std::vector<TrainingSequence> sequences_;
  EpochOrder order_;
  std::deque<double> recent_losses_;
  double tokens_ = 0, seconds_ = 0;
};

// `model`: the directory that the run begins with.
Result<std::vector<TrainingSequence>> encode(const SftConfig& config,
                                             const std::filesystem::path& model,
                                             std::span<const SftExample> examples) {
  TRY_ASSIGN(const auto tokenizer, text::Tokenizer::from_file(model / "tokenizer.json"));
  TRY(check_model_fits(model, tokenizer.id_limit(), config.data.max_tokens, "data.max_tokens"));
  if (examples.empty()) return fail("there are no examples to train on");
  TRY_ASSIGN(const auto chat, open_chat(config.model, model, tokenizer, examples.front().prompt));
  auto sequences = encode_examples(examples, tokenizer, chat, config.data.max_tokens);
  if (sequences.empty())
    return fail("none of the {} examples fits into data.max_tokens = {}", examples.size(),
                config.data.max_tokens);
  if (sequences.size() < examples.size())
    LOG("{} of {} examples are longer than data.max_tokens = {} and are left out",
        examples.size() - sequences.size(), examples.size(), config.data.max_tokens);
  return sequences;
}

TrainingRunOptions run_options(const SftConfig& config,
                               distributed::Ranks& ranks = distributed::nobody_else()) {
  return {.command = "sft",
          .settings = settings_of(config),
          .run = config.run,
          .model = config.model,
          .lora = config.lora,
          .checkpoint = config.checkpoint,
          .ranks = &ranks};
}

}  // namespace

Fields<SftDataSection> SftDataSection::fields() {
  using S = SftDataSection;
  return {field("examples", &S::examples,
                "a JSONL file of {task, prompt, completion}, as `tasks teach` writes it"),
          field("step_tokens", &S::step_tokens,
                "an optimizer step takes examples up to so many tokens", at_least<std::int64_t>(1)),
          field("max_tokens", &S::max_tokens, "longer examples are left out",
                at_least<std::int64_t>(2))};
}

Fields<SftConfig> SftConfig::fields() {
  Fields<SftConfig> fields;
  append_section(fields, "run", &SftConfig::run);
  append_section(fields, "model", &SftConfig::model);
  append_section(fields, "lora", &SftConfig::lora);
  append_section(fields, "data", &SftConfig::data);
  append_section(fields, "optimizer", &SftConfig::optimizer);
  append_section(fields, "checkpoint", &SftConfig::checkpoint);
  return fields;
}

Status check(const SftConfig& config) { return check_sections(config.run, config.model); }

Result<SftPreview> preview_sft(const SftConfig& config, std::span<const SftExample> examples) {
  TRY(check(config));
  SftPreview preview;
  TRY_ASSIGN(preview.run, TrainingRun::outlook(run_options(config)));
  TRY_ASSIGN(const auto sequences, encode(config, preview.run.model, examples));
  preview.sequences = sequences.size();
  for (const TrainingSequence& each : sequences) preview.tokens += std::ssize(each.tokens);
  return preview;
}

Result<SftSummary> run_sft(const SftConfig& config, std::span<const SftExample> examples,
                           const StopFlag& stop, distributed::Ranks& ranks) {
  TRY(check(config));
  // Opened first: only then is it settled which model the run begins with.
  TRY_ASSIGN(TrainingRun run, TrainingRun::open(run_options(config, ranks)));
  TRY_ASSIGN(auto sequences, encode(config, first_model(config.run, config.model), examples));
  TRY(run.keep_data("examples.jsonl", sft_examples_to_jsonl(examples)));
  return SftLoop(config, run, std::move(sequences)).run(stop);
}

}  // namespace tritonsmith::train
