#include "train/rl_loop.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "text/chat.h"
#include "train/experience_exchange.h"

namespace tritonsmith::train {
namespace {

void add_timings(const Experience& experience, double training, double whole, Metrics& metrics) {
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

template <typename Item>
std::vector<Item> chosen(std::vector<Item>& items, const std::vector<char>& is_chosen) {
  std::vector<Item> kept;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (is_chosen[i] != 0) kept.push_back(std::move(items[i]));
  return kept;
}

}  // namespace

RlLoop::RlLoop(RlWorld world, TrainingRun& run, std::unique_ptr<rollout::Generator> generator,
               std::optional<model::Transformer> reference)
    : world_(std::move(world)),
      config_(world_.config),
      run_(run),
      generator_(std::move(generator)),
      reference_(std::move(reference)),
      order_(config_.run.seed, "rl tasks", world_.prompts.size()),
      progress_("rl", static_cast<std::size_t>(config_.run.steps)) {}

Result<RlSummary> RlLoop::run(const StopFlag& stop) {
  TRY(restore_state());
  for (;;) {
    TRY_ASSIGN(const bool goes_on, run_.goes_on(stop));
    if (!goes_on) break;
    TRY(without_exceptions([&] { return step(stop); }));
  }
  return RlSummary{.steps = run_.step(),
                   .reward = recent_mean("reward/mean"),
                   .accepted = recent_mean("stage/accepted"),
                   .checkpoint = run_.checkpoint_path(),
                   .is_finished = run_.is_finished()};
}

Status RlLoop::restore_state() {
  lots_ = run_.step();  // one a step, unless the state knows better
  if (run_.state().contains("lots")) TRY(read_value(run_.state()["lots"], lots_));
  if (!run_.state().contains("stages")) return ok();
  TRY_ASSIGN(stages_, reward::stage_state_from_json(run_.state()["stages"]));
  return ok();
}

Status RlLoop::step(const StopFlag& stop) {
  const Stopwatch watch;
  TRY_ASSIGN(Gathered gathered, gather());
  Experience& experience = gathered.experience;
  const Stopwatch training;
  Metrics metrics = sample_metrics(experience.samples, gathered.is_scored);
  metrics.emplace_back("groups/lots", gathered.lots);
  observe_stages(experience.samples, gathered.is_scored);
  std::vector<char> is_unused;
  for (const char used : gathered.is_used) is_unused.push_back(static_cast<char>(used == 0));
  auto unused = chosen(experience.samples, is_unused);
  auto turns = chosen(experience.samples, gathered.is_used);
  TRY(learn(turns, chosen(gathered.is_scored, gathered.is_used), metrics));
  experience.samples = std::move(turns);
  experience.append({.samples = std::move(unused)});
  for (const JudgedSample& judged : experience.samples) TRY(run_.directory().append(judged.sample));
  add_timings(experience, training.seconds(), watch.seconds(), metrics);
  recent_.push_back(metrics);
  if (recent_.size() > kRecent) recent_.pop_front();
  TRY(run_.finish_step(metrics, stop));
  show_progress("");
  return ok();
}

Result<RlLoop::Gathered> RlLoop::gather() {
  Gathered gathered;
  int wanted = config_.rollout.prompts;
  while (gathered.lots == 0 || (wanted > 0 && gathered.lots < config_.algorithm.sampling_lots)) {
    TRY_ASSIGN(Experience lot, gather_lot(++lots_, gathered.lots * config_.rollout.prompts));
    ++gathered.lots;
    const std::vector<char> is_scored = score(lot.samples);
    wanted -= choose_groups(lot.samples, is_scored, wanted, gathered.is_used);
    gathered.is_scored.insert(gathered.is_scored.end(), is_scored.begin(), is_scored.end());
    gathered.experience.append(std::move(lot));
  }
  run_.state()["lots"] = lots_;
  return gathered;
}

Result<Experience> RlLoop::gather_lot(std::int64_t lot, int first_group) {
  const text::ChatTemplate& chat = world_.chat;
  std::vector<Prompted> prompts;
  const auto count = static_cast<std::uint64_t>(config_.rollout.prompts);
  const auto first = static_cast<std::uint64_t>(lot - 1) * count;
  for (std::uint64_t i = 0; i < count; ++i) prompts.push_back(world_.prompts[order_.at(first + i)]);
  RolloutOptions options{.step = run_.step() + 1,
                         .lot = lot,
                         .seed = config_.run.seed,
                         .samples = config_.rollout.samples,
                         .first_group = first_group,
                         .rank = run_.ranks().rank(),
                         .ranks = run_.ranks().size(),
                         .sampling = config_.rollout.sampling,
                         .episode = config_.episode_options()};
  options.sampling.stop_tokens = world_.stop_tokens;
  options.episode.positions = run_.learner().model().config().max_position_embeddings;
  const at::NoGradGuard no_grad;
  TRY_ASSIGN(Experience mine,
             roll_out(prompts, options,
                      {.episode = {.generator = *generator_,
                                   .judge = world_.parts.judge,
                                   .faults = faults_,
                                   .tokenizer = world_.tokenizer,
                                   .chat = chat,
                                   .score =
                                       [&](const Kernel& kernel, const Verdict& verdict) {
                                         const auto reward =
                                             reward::score({.kernel = kernel, .verdict = verdict},
                                                           config_.reward, stages_);
                                         return reward ? reward->total : 0.0;
                                       }},
                       .on_progress = [&](std::size_t written, std::size_t judged) {
                         show_progress(fmt::format("; now {} written, {} judged of {}", written,
                                                   judged, config_.samples_per_step()));
                       }}));
  return experience_of_all(std::move(mine), run_.ranks());
}

std::vector<char> RlLoop::score(std::span<JudgedSample> samples) const {
  return score_samples(samples,
                       {.reward = config_.reward,
                        .stages = stages_,
                        .overlong_weight = config_.algorithm.overlong_weight,
                        .overlong_cache = config_.algorithm.overlong_cache,
                        .max_new_tokens = config_.rollout.sampling.max_new_tokens},
                       world_.parts.references);
}

int RlLoop::choose_groups(std::span<const JudgedSample> samples, std::span<const char> is_scored,
                          int wanted, std::vector<char>& is_used) const {
  int taken = 0;
  for (const Span& group : groups_of(samples)) {
    const std::size_t size = group.end - group.begin;
    const bool teaches =
        !config_.algorithm.filter_groups ||
        has_variance(samples.subspan(group.begin, size), is_scored.subspan(group.begin, size),
                     config_.algorithm.filter_deviation);
    const bool is_taken = teaches && taken < wanted;
    taken += is_taken ? 1 : 0;
    is_used.insert(is_used.end(), size, static_cast<char>(is_taken));
  }
  return taken;
}

Status RlLoop::learn(std::span<JudgedSample> turns, std::vector<char> is_scored, Metrics& metrics) {
  PolicyBatch batch = policy_batch(turns);
  TRY(add_logprobs(batch));
  add_kl_to_rewards(turns, batch);
  const Rejections rejections = assign_credit(turns, is_scored, config_.credit_rules(), batch);
  const algorithm::MismatchOptions mismatch = config_.mismatch_options();
  if (mismatch.rule != algorithm::MismatchRule::off)
    for (std::size_t g = 0; g < batch.segments(); ++g)
      batch.mismatch.push_back(
          algorithm::mismatch_weights(batch.old[g], batch.sampler[g], mismatch));
  metrics.insert(metrics.end(),
                 {{"samples/trained", static_cast<double>(std::ranges::count(batch.counts, 1))},
                  {"samples/rejected_by_mismatch", static_cast<double>(rejections.mismatch)},
                  {"samples/rejected_by_profile", static_cast<double>(rejections.profile)}});
  return update(batch, metrics);
}

// The trainer's and the reference's numbers, where anything needs them.
Status RlLoop::add_logprobs(PolicyBatch& batch) const {
  const PolicyGradientOptions options = config_.gradient_options();
  const auto logprobs = [&](const model::Transformer& model) {
    return segment_logprobs_over_ranks(
        model, {.batch = batch, .temperature = options.temperature, .budget = options.budget},
        run_.ranks());
  };
  if (reference_) {
    TRY_ASSIGN(batch.reference, logprobs(*reference_));
  }
  // With one update the weights are still those of the rollout: the ratio is 1.
  if (config_.updates_per_step() > 1 || config_.needs_old_logprobs()) {
    TRY_ASSIGN(batch.old, logprobs(run_.learner().model()));
  }
  return ok();
}

void RlLoop::add_kl_to_rewards(std::span<JudgedSample> turns, const PolicyBatch& batch) const {
  const AlgorithmSection& rules = config_.algorithm;
  if (rules.kl_beta <= 0 || rules.kl_place != algorithm::KlPlace::reward) return;
  for (std::size_t g = 0; g < turns.size(); ++g) {
    Reward& reward = turns[g].sample.reward;
    const double kl =
        algorithm::kl_of_completion(batch.old[g], batch.reference[g], rules.kl_estimator);
    reward.terms.push_back({"kl", kl, -rules.kl_beta});
    reward.total -= rules.kl_beta * kl;
  }
}

Status RlLoop::update(const PolicyBatch& batch, Metrics& metrics) {
  PolicyGradientReport last;
  UpdateReport report;
  std::int64_t tokens = 0;
  for (const auto& members : minibatches(batch)) {
    last = set_policy_gradient(run_.learner(), batch, members, config_.gradient_options());
    TRY(sum_over_ranks(last, run_.ranks()));
    tokens += last.tokens;
    if (last.tokens == 0) continue;  // nothing in it counts
    TRY_ASSIGN(report, run_.learner().update(config_.optimizer,
                                             config_.run.steps * config_.updates_per_step()));
  }
  metrics.insert(metrics.end(), {{"policy_loss", last.loss},
                                 {"surrogate", last.surrogate},
                                 {"entropy", last.entropy},
                                 {"kl", last.kl},
                                 {"clip_fraction", last.clip_fraction},
                                 {"logprob_difference/mean", last.difference_mean},
                                 {"logprob_difference/max", last.difference_max},
                                 {"learning_rate", report.learning_rate},
                                 {"grad_norm", report.grad_norm},
                                 {"tokens", static_cast<double>(tokens)}});
  return ok();
}

std::vector<std::vector<std::size_t>> RlLoop::minibatches(const PolicyBatch& batch) const {
  const auto parts = static_cast<std::size_t>(config_.algorithm.minibatches);
  const std::size_t count = batch.sequences.size();
  std::vector<std::vector<std::size_t>> all;
  if (count == 0) return all;  // every group was filtered out
  for (int epoch = 0; epoch < config_.algorithm.epochs; ++epoch) {
    const auto number = static_cast<std::uint64_t>(run_.step() * config_.algorithm.epochs + epoch);
    EpochOrder order(config_.run.seed, fmt::format("rl minibatches {}", number), count);
    for (std::size_t part = 0; part < parts; ++part) {
      auto& members = all.emplace_back();
      for (std::size_t i = part * count / parts; i < (part + 1) * count / parts; ++i)
        members.push_back(parts == 1 ? i : order.at(i));
    }
  }
  return all;
}

void RlLoop::observe_stages(std::span<const JudgedSample> samples,
                            const std::vector<char>& is_scored) {
  std::vector<Reward> rewards;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (is_scored[i] != 0) rewards.push_back(samples[i].sample.reward);
  stages_.observe(rewards, config_.reward);
  run_.state()["stages"] = reward::to_json(stages_);
}

void RlLoop::show_progress(std::string_view more) {
  progress_.advance_to(static_cast<std::size_t>(run_.step()),
                       fmt::format("reward {:.3f}, accepted {:.0f} %{}", recent_mean("reward/mean"),
                                   100 * recent_mean("stage/accepted"), more));
}

double RlLoop::recent_mean(std::string_view name) const {
  double sum = 0, count = 0;
  for (const Metrics& metrics : recent_) {
    const auto at = std::ranges::find(metrics, name, &Metrics::value_type::first);
    if (at == metrics.end() || !std::isfinite(at->second)) continue;
    sum += at->second;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace tritonsmith::train
