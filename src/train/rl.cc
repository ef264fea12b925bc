#include "train/rl.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/log.h"
#include "model/checkpoint.h"
#include "text/chat.h"
#include "train/references.h"

namespace tritonsmith::train {
namespace {

// What stays the same over a run besides the learner.
struct RlWorld {
  const RlConfig& config;
  const RlParts& parts;
  const text::Tokenizer& tokenizer;
  std::vector<Prompted> prompts;  // of every task
  TokenId stop_token = 0;
};

class RlLoop {
 public:
  RlLoop(RlWorld world, TrainingRun& run, std::unique_ptr<rollout::Generator> generator,
         std::optional<model::Transformer> reference)
      : world_(std::move(world)),
        config_(world_.config),
        run_(run),
        generator_(std::move(generator)),
        reference_(std::move(reference)),
        order_(config_.run.seed, "rl tasks", world_.prompts.size()),
        progress_("rl", static_cast<std::size_t>(config_.run.steps)) {}

  Result<RlSummary> run(const StopFlag& stop) {
    TRY(restore_stages());
    while (!run_.is_finished() && !stop) TRY(without_exceptions([&] { return step(stop); }));
    return RlSummary{.steps = run_.step(),
                     .reward = recent_mean("reward/mean"),
                     .accepted = recent_mean("stage/accepted"),
                     .checkpoint = run_.checkpoint_path(),
                     .is_finished = run_.is_finished()};
  }

 private:
  Status restore_stages() {
    if (!run_.state().contains("stages")) return ok();
    TRY_ASSIGN(stages_, reward::stage_state_from_json(run_.state()["stages"]));
    return ok();
  }

  Status step(const StopFlag& stop) {
    const Stopwatch watch;
    TRY_ASSIGN(Experience experience, gather());
    const auto is_scored = score_samples(experience.samples,
                                         {.reward = config_.reward,
                                          .stages = stages_,
                                          .advantage = config_.advantage_options(),
                                          .group_size = config_.rollout.samples},
                                         world_.parts.references);
    const Stopwatch training;
    Metrics metrics = sample_metrics(experience.samples, is_scored, config_.rollout.samples);
    TRY(learn(experience.samples, is_scored, metrics));
    observe_stages(experience.samples, is_scored);
    for (const JudgedSample& judged : experience.samples)
      TRY(run_.directory().append(judged.sample));
    add_timings(experience, training.seconds(), watch.seconds(), metrics);
    recent_.push_back(metrics);
    if (recent_.size() > kRecent) recent_.pop_front();
    TRY(run_.finish_step(metrics, stop));
    progress_.advance_to(static_cast<std::size_t>(run_.step()), progress_text());
    return ok();
  }

  Result<Experience> gather() {
    std::vector<Prompted> prompts;
    const auto count = static_cast<std::uint64_t>(config_.rollout.prompts);
    const auto first = static_cast<std::uint64_t>(run_.step()) * count;
    for (std::uint64_t i = 0; i < count; ++i)
      prompts.push_back(world_.prompts[order_.at(first + i)]);
    RolloutOptions options{.step = run_.step() + 1,
                           .seed = config_.run.seed,
                           .samples = config_.rollout.samples,
                           .sampling = config_.rollout.sampling,
                           .policy = config_.judge.policy,
                           .backend = config_.judge.backend,
                           .trials = config_.judge.trials,
                           .patience = std::chrono::seconds(config_.judge.patience_seconds)};
    options.sampling.stop_tokens = {world_.stop_token};
    const at::NoGradGuard no_grad;
    return roll_out(prompts, options,
                    {.generator = *generator_,
                     .judge = world_.parts.judge,
                     .faults = faults_,
                     .tokenizer = world_.tokenizer,
                     .on_progress = [&](std::size_t written, std::size_t judged) {
                       progress_.advance_to(
                           static_cast<std::size_t>(run_.step()),
                           fmt::format("{}; now {} written, {} judged of {}", progress_text(),
                                       written, judged, config_.samples_per_step()));
                     }});
  }

  // All updates of the step; what they measured goes to `metrics`.
  Status learn(std::span<const JudgedSample> samples, const std::vector<char>& is_scored,
               Metrics& metrics) {
    PolicyBatch batch = policy_batch(
        samples, is_scored, config_.algorithm.mask_truncated ? Truncated::mask : Truncated::train);
    const PolicyGradientOptions options = config_.gradient_options();
    const auto logprobs = [&](const model::Transformer& model) {
      return token_logprobs(model, batch.sequences, options.temperature, options.budget);
    };
    if (reference_) batch.reference = logprobs(*reference_);
    // With one update the weights are still those of the rollout: the ratio is 1.
    if (config_.updates_per_step() > 1) batch.old = logprobs(run_.learner().model());

    PolicyGradientReport last;
    UpdateReport update;
    std::int64_t tokens = 0;
    for (const auto& members : minibatches(batch)) {
      last = set_policy_gradient(run_.learner(), batch, members, options);
      tokens += last.tokens;
      if (last.tokens == 0) continue;  // nothing in it counts
      TRY_ASSIGN(update, run_.learner().update(config_.optimizer,
                                               config_.run.steps * config_.updates_per_step()));
    }
    metrics.insert(metrics.end(), {{"policy_loss", last.loss},
                                   {"surrogate", last.surrogate},
                                   {"entropy", last.entropy},
                                   {"kl", last.kl},
                                   {"clip_fraction", last.clip_fraction},
                                   {"logprob_difference/mean", last.difference_mean},
                                   {"logprob_difference/max", last.difference_max},
                                   {"learning_rate", update.learning_rate},
                                   {"grad_norm", update.grad_norm},
                                   {"tokens", static_cast<double>(tokens)}});
    return ok();
  }

  // The members of each update: every sample once an epoch. One minibatch keeps the order.
  std::vector<std::vector<std::size_t>> minibatches(const PolicyBatch& batch) const {
    const auto parts = static_cast<std::size_t>(config_.algorithm.minibatches);
    std::vector<std::vector<std::size_t>> all;
    for (int epoch = 0; epoch < config_.algorithm.epochs; ++epoch) {
      const auto number =
          static_cast<std::uint64_t>(run_.step() * config_.algorithm.epochs + epoch);
      EpochOrder order(config_.run.seed, fmt::format("rl minibatches {}", number),
                       batch.sequences.size());
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t begin = part * batch.sequences.size() / parts;
        const std::size_t end = (part + 1) * batch.sequences.size() / parts;
        auto& members = all.emplace_back();
        for (std::size_t i = begin; i < end; ++i) members.push_back(parts == 1 ? i : order.at(i));
      }
    }
    return all;
  }

  void observe_stages(std::span<const JudgedSample> samples, const std::vector<char>& is_scored) {
    std::vector<Reward> rewards;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (is_scored[i] != 0) rewards.push_back(samples[i].sample.reward);
    stages_.observe(rewards, config_.reward);
    run_.state()["stages"] = reward::to_json(stages_);
  }

  static void add_timings(const Experience& experience, double training, double whole,
                          Metrics& metrics) {
    double generated = 0;
    for (const JudgedSample& judged : experience.samples)
      generated += static_cast<double>(judged.sample.completion.tokens.size());
    const double trained = metrics.back().second;  // "tokens", the last that learn() adds
    metrics.insert(metrics.end(), {{"tokens_per_second", trained / std::max(training, 1e-9)},
                                   {"generated_tokens", generated},
                                   {"generated_tokens_per_second",
                                    generated / std::max(experience.generate_seconds, 1e-9)},
                                   {"seconds/generate", experience.generate_seconds},
                                   {"seconds/await_verdicts", experience.wait_seconds},
                                   {"seconds/train", training},
                                   {"seconds/step", whole}});
  }

  double recent_mean(std::string_view name) const {
    double sum = 0, count = 0;
    for (const Metrics& metrics : recent_) {
      const auto at = std::ranges::find(metrics, name, &Metrics::value_type::first);
      if (at == metrics.end() || !std::isfinite(at->second)) continue;
      sum += at->second;
      count += 1;
    }
    return count > 0 ? sum / count : 0;
  }
  std::string progress_text() const {
    return fmt::format("reward {:.3f}, accepted {:.0f} %", recent_mean("reward/mean"),
                       100 * recent_mean("stage/accepted"));
  }

  static constexpr std::size_t kRecent = 20;
  RlWorld world_;
  const RlConfig& config_;
  TrainingRun& run_;
  std::unique_ptr<rollout::Generator> generator_;
  std::optional<model::Transformer> reference_;  // only with a KL term
  EpochOrder order_;
  gym::FaultStreak faults_{gym::kFaultsInARow};
  Progress progress_;
  reward::StageState stages_;
  std::deque<Metrics> recent_;
};

// What the run begins with, as far as prompts go.
struct Prompting {
  text::Tokenizer tokenizer;
  TokenId stop_token = 0;
  std::vector<Prompted> prompts;  // of every task that leaves room for a completion
};

// `model`: the directory that the run begins with.
Result<Prompting> prompting_for(const RlConfig& config, const std::filesystem::path& model,
                                std::span<const Task> tasks) {
  const int room = config.rollout.sampling.max_new_tokens;
  TRY_ASSIGN(auto tokenizer, text::Tokenizer::from_file(model / "tokenizer.json"));
  TRY_ASSIGN(const auto chat, text::ChatTemplate::make(tokenizer));
  TRY(check_model_fits(model, tokenizer.id_limit(), room, "rollout.max_new_tokens"));
  TRY_ASSIGN(const auto shape, model::read_model_config(model / "config.json"));
  std::vector<Prompted> prompts;
  for (const Task& task : tasks) {
    if (task.split == TaskSplit::heldout)
      return fail("task {} is held out for evaluation and must not be trained on", task.id);
    Prompted prompted{.task = &task,
                      .tokens = chat.prompt_tokens(text::prompt_for(task, config.prompt))};
    if (std::ssize(prompted.tokens) + room <= shape.max_position_embeddings)
      prompts.push_back(std::move(prompted));
  }
  if (prompts.empty())
    return fail(
        "none of the {} tasks leaves room for rollout.max_new_tokens = {} in the model's "
        "{} positions",
        tasks.size(), room, shape.max_position_embeddings);
  if (prompts.size() < tasks.size())
    LOG("{} of {} tasks have prompts too long for this model and are left out",
        tasks.size() - prompts.size(), tasks.size());
  const TokenId stop_token = chat.stop_token();
  return Prompting{
      .tokenizer = std::move(tokenizer), .stop_token = stop_token, .prompts = std::move(prompts)};
}

std::string to_jsonl(std::span<const Task> tasks) {
  std::string text;
  for (const Task& task : tasks) text += to_line(to_json(task)) + '\n';
  return text;
}

// The model the run began with, when the KL term needs it.
Result<std::optional<model::Transformer>> load_reference(const RlConfig& config,
                                                         c10::Device device) {
  if (config.algorithm.kl_beta <= 0) return std::optional<model::Transformer>();
  TRY_ASSIGN(const model::Transformer first,
             model::load_model(first_model(config.run, config.model), device));
  return std::optional(first.frozen_copy());
}

TrainingRunOptions run_options(const RlConfig& config) {
  return {.command = "rl",
          .settings = settings_of(config),
          .run = config.run,
          .model = config.model,
          .checkpoint = config.checkpoint};
}

}  // namespace

Result<RlPreview> preview_rl(const RlConfig& config, std::span<const Task> tasks) {
  TRY(check(config));
  RlPreview preview;
  TRY_ASSIGN(preview.run, TrainingRun::outlook(run_options(config)));
  TRY_ASSIGN(const auto prompting, prompting_for(config, preview.run.model, tasks));
  preview.tasks = prompting.prompts.size();
  return preview;
}

Result<RlSummary> run_rl(const RlConfig& config, std::span<const Task> tasks, const RlParts& parts,
                         const StopFlag& stop) {
  TRY(check(config));
  // Opened first: only then is it settled which model the run begins with.
  TRY_ASSIGN(TrainingRun run, TrainingRun::open(run_options(config)));
  TRY_ASSIGN(auto prompting, prompting_for(config, first_model(config.run, config.model), tasks));
  TRY(run.directory().keep_data("tasks.jsonl", to_jsonl(tasks)));
  if (!parts.references.empty())
    TRY(run.directory().keep_data("references.jsonl", references_to_jsonl(parts.references)));
  TRY_ASSIGN(auto reference, load_reference(config, run.learner().model().device()));
  TRY_ASSIGN(auto generator, parts.make_generator(run.learner().model()));
  RlLoop loop({.config = config,
               .parts = parts,
               .tokenizer = prompting.tokenizer,
               .prompts = std::move(prompting.prompts),
               .stop_token = prompting.stop_token},
              run, std::move(generator), std::move(reference));
  return loop.run(stop);
}

}  // namespace tritonsmith::train
