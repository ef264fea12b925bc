#include "train/sft/sft.h"

#include <ATen/ATen.h>

#include "base/log.h"
#include "train/gradient/sft_gradient.h"
#include "train/sft/heldout.h"

namespace tritonsmith::train {
namespace {

// Returns the members of the next step: those from `position` on, until the budget is full. Then
// `position` is the begin of the step after it.
std::vector<std::size_t> take_step(EpochOrder& order, std::uint64_t& position,
                                   std::span<const TrainingSequence> sequences,
                                   std::int64_t budget) {
  std::vector<std::size_t> members;
  for (std::int64_t filled = 0;; ++position) {
    const std::size_t next = order.at(position);
    filled += static_cast<std::int64_t>(sequences[next].tokens.size());
    if (!members.empty() && filled > budget) return members;
    members.push_back(next);
  }
}

// Examples as tokens.
struct Sequences {
  std::vector<TrainingSequence> trained, heldout;
};

class SftLoop {
 public:
  SftLoop(const SftConfig& config, TrainingRun& run, Sequences sequences)
      : config_(config),
        run_(run),
        sequences_(std::move(sequences)),
        order_(config.run.seed, "sft order", sequences_.trained.size()) {}

  Result<SftSummary> run(const StopFlag& stop) {
    Progress progress("sft", static_cast<std::size_t>(config_.run.steps),
                      static_cast<std::size_t>(run_.step()));
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
    Metrics heldout;
    if (run_.step() == 0) TRY(try_heldout("heldout/loss_at_start", heldout));
    const Stopwatch watch;
    // A checkpoint of the previous version has "place" for "position".
    std::uint64_t position =
        run_.state().value("position", run_.state().value("place", std::uint64_t{0}));
    const auto& trained = sequences_.trained;
    const auto members = take_step(order_, position, trained, config_.data.step_tokens);
    auto gradient = set_sft_gradient(run_.learner(), trained, members, packing());
    TRY(sum_over_ranks(gradient, run_.ranks()));
    TRY_ASSIGN(const auto update, run_.learner().update(config_.optimizer, config_.run.steps));
    run_.state()["position"] = position;
    const double seconds = watch.seconds();
    tokens_ += static_cast<double>(gradient.tokens);
    seconds_ += seconds;
    if (is_tried_after(run_.step() + 1)) TRY(try_heldout("heldout/loss", heldout));
    Metrics metrics = {{"loss", gradient.loss},
                       {"entropy", gradient.entropy},
                       {"learning_rate", update.learning_rate},
                       {"grad_norm", update.grad_norm},
                       {"epoch", order_.epochs_at(position)},
                       {"sequences", static_cast<double>(members.size())},
                       {"tokens", static_cast<double>(gradient.tokens)},
                       {"shared_tokens", static_cast<double>(gradient.shared_tokens)},
                       {"trained_tokens", static_cast<double>(gradient.trained_tokens)},
                       {"tokens_per_second", static_cast<double>(gradient.tokens) / seconds},
                       {"seconds/step", seconds}};
    metrics.insert(metrics.end(), heldout.begin(), heldout.end());
    return run_.finish_step(metrics, stop);
  }

  PackingOptions packing() const {
    return config_.optimizer.packing(run_.learner().model().device());
  }

  bool is_tried_after(std::int64_t step) const {
    const std::int64_t every = config_.data.heldout_every;
    return step >= config_.run.steps || (every > 0 && step % every == 0);
  }

  Status try_heldout(const char* name, Metrics& metrics) {
    if (sequences_.heldout.empty()) return ok();
    TRY_ASSIGN(const double loss,
               heldout_loss(run_.learner().model(), sequences_.heldout, packing(), run_.ranks()));
    metrics.emplace_back(name, loss);
    metrics.emplace_back("heldout/unigram_entropy", unigram_entropy(sequences_.heldout));
    return ok();
  }

  double mean_loss() const { return recent_mean(run_.recent(), "loss"); }
  double tokens_per_second() const { return seconds_ > 0 ? tokens_ / seconds_ : 0; }

  const SftConfig& config_;
  TrainingRun& run_;
  Sequences sequences_;
  EpochOrder order_;
  double tokens_ = 0, seconds_ = 0;  // since this process began
};

// `model`: the directory that the run begins with.
Result<Sequences> encode(const SftConfig& config, const std::filesystem::path& model,
                         const SftMaterial& material) {
  const auto& examples = material.examples;
  TRY_ASSIGN(const auto tokenizer, text::Tokenizer::from_file(model / "tokenizer.json"));
  TRY(check_model_fits(model, tokenizer.id_limit(), config.data.max_tokens, "data.max_tokens"));
  if (examples.empty()) return fail("there are no examples to train on");
  TRY_ASSIGN(const auto chat, open_chat(config.model, model, tokenizer, examples.front().prompt));
  const auto fitting = [&](std::span<const SftExample> those,
                           std::string_view name) -> Result<std::vector<TrainingSequence>> {
    auto sequences = encode_examples(those, tokenizer, chat, config.data.max_tokens);
    if (sequences.empty() && !those.empty())
      return fail("none of the {} {} fits into data.max_tokens = {}", those.size(), name,
                  config.data.max_tokens);
    if (sequences.size() < those.size())
      LOG("{} of {} {} are longer than data.max_tokens = {} and are left out",
          those.size() - sequences.size(), those.size(), name, config.data.max_tokens);
    return sequences;
  };
  Sequences sequences;
  TRY_ASSIGN(sequences.trained, fitting(examples, "examples"));
  TRY_ASSIGN(sequences.heldout, fitting(material.heldout, "held-out examples"));
  return sequences;
}

// Adds the prompt.json that fits the examples. If the first model has a prompt.json, the checkpoint
// keeps that one, because it may also know how long a completion may be.
Status add_prompt_record(const std::filesystem::path& first,
                         const std::optional<text::PromptRecord>& asked,
                         TrainingRunOptions& options) {
  if (!asked) return ok();
  TRY_ASSIGN(const auto known, text::read_prompt_record(first));
  const bool says_the_same = known && known->prompt == asked->prompt && asked->max_new_tokens == 0;
  if (!says_the_same) options.companions.emplace(text::kPromptRecordFile, to_text(*asked));
  return ok();
}

Result<TrainingRunOptions> run_options(const SftConfig& config, const SftMaterial& material,
                                       distributed::Ranks& ranks = distributed::nobody_else()) {
  TrainingRunOptions options{.command = "sft",
                             .settings = settings_of(config),
                             .run = config.run,
                             .model = config.model,
                             .lora = config.lora,
                             .checkpoint = config.checkpoint,
                             .ranks = &ranks,
                             .program = material.program};
  TRY(add_prompt_record(first_model(config.run, config.model), asked_alike(material.examples),
                        options));
  return options;
}

}  // namespace

Fields<SftDataSection> SftDataSection::fields() {
  using S = SftDataSection;
  return {field("examples", &S::examples,
                "A JSONL file of {task, prompt, completion}, as `tasks teach` writes it."),
          field("heldout", &S::heldout,
                "A JSONL file of examples that are not trained on. Their loss is recorded."),
          field("heldout_every", &S::heldout_every,
                "Steps between evaluations on the held-out examples. 0: before the first step and "
                "after the last.",
                at_least<std::int64_t>(0)),
          field("step_tokens", &S::step_tokens,
                "An optimizer step takes examples of up to this many tokens.",
                at_least<std::int64_t>(1)),
          field("max_tokens", &S::max_tokens, "Longer examples are left out.",
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

Status check(const SftConfig& config, ModelLocation location) {
  return check_sections(config.run, config.model, location);
}

Result<SftPreview> preview_sft(const SftConfig& config, const SftMaterial& material) {
  TRY(check(config));
  SftPreview preview;
  TRY_ASSIGN(const auto options, run_options(config, material));
  TRY_ASSIGN(preview.run, TrainingRun::outlook(options));
  TRY_ASSIGN(const Sequences sequences, encode(config, preview.run.model, material));
  preview.sequences = sequences.trained.size();
  for (const TrainingSequence& each : sequences.trained) preview.tokens += std::ssize(each.tokens);
  return preview;
}

Result<SftSummary> run_sft(const SftConfig& config, const SftMaterial& material,
                           const StopFlag& stop, distributed::Ranks& ranks) {
  TRY(check(config));
  // The run must be open before the program knows with which model the run begins.
  TRY_ASSIGN(const auto options, run_options(config, material, ranks));
  TRY_ASSIGN(TrainingRun run, TrainingRun::open(options));
  TRY_ASSIGN(auto sequences, encode(config, first_model(config.run, config.model), material));
  TRY(run.keep_data("examples.jsonl", sft_examples_to_jsonl(material.examples)));
  if (!material.heldout.empty())
    TRY(run.keep_data("heldout.jsonl", sft_examples_to_jsonl(material.heldout)));
  return SftLoop(config, run, std::move(sequences)).run(stop);
}

}  // namespace tritonsmith::train
