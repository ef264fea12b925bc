#include "train/rl_loop.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "text/chat.h"
#include "train/experience_exchange.h"

namespace tritonsmith::train {
namespace {

struct StepSeconds {
  double awaited = 0;  // without anything to learn from
  double training = 0, whole = 0;
  std::optional<double> early;  // of the training, beside the rollout
};

void add_timings(const Experience& experience, const StepSeconds& seconds, Metrics& metrics) {
  const episode::Activity& activity = experience.activity;
  double generated = 0;
  for (const JudgedSample& judged : experience.samples)
    generated += static_cast<double>(judged.sample.completion.tokens.size());
  const double trained = metrics.back().second;  // "tokens", the last that learn() adds
  metrics.insert(
      metrics.end(),
      {{"tokens_per_second", trained / std::max(seconds.training, 1e-9)},
       {"generated_tokens", generated},
       {"generated_tokens_per_second", generated / std::max(experience.generate_seconds, 1e-9)},
       {"seconds/generate", experience.generate_seconds},
       {"seconds/await_verdicts", experience.wait_seconds},
       {"seconds/judge", activity.judging},
       {"seconds/generate_and_judge", activity.both},
       {"seconds/await_rollout", seconds.awaited},
       {"seconds/train", seconds.training},
       {"seconds/longest_stage", std::max({activity.writing, activity.judging, seconds.training})},
       {"seconds/step", seconds.whole}});
  if (seconds.early) metrics.emplace_back("seconds/train_early", *seconds.early);
}

template <typename Item>
std::vector<Item> chosen(std::vector<Item>& items, const std::vector<char>& is_chosen) {
  std::vector<Item> kept;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (is_chosen[i] != 0) kept.push_back(std::move(items[i]));
  return kept;
}

}  // namespace

RlLoop::RlLoop(RlWorld world, TrainingRun& run, RlModels models)
    : world_(std::move(world)),
      config_(world_.config),
      run_(run),
      models_(std::move(models)),
      order_(config_.run.seed, "rl tasks", world_.prompts.size()),
      progress_("rl", static_cast<std::size_t>(config_.run.steps)) {}

Result<RlSummary> RlLoop::run(const StopFlag& stop) {
  TRY(restore_state());
  TRY(open_lease());
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

Status RlLoop::open_lease() {
  if (world_.parts.gpu_lease.empty()) return ok();
  TRY_ASSIGN(lease_, Lease::open(world_.parts.gpu_lease));
  return ok();
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
  const TimePoint began = system_clock().now();
  TRY_ASSIGN(Gathered gathered, take_gathered());
  const bool is_early = gathered.learnt != nullptr;
  if (!is_early) trace(TraceLane::rollout, "await rollout", began);
  Experience& experience = gathered.experience;
  const double learnt = is_early ? gathered.learnt->seconds : 0;
  const double awaited = watch.seconds() - learnt;
  Metrics metrics = sample_metrics(experience.samples, gathered.is_scored);
  metrics.emplace_back("groups/lots", gathered.lots);
  metrics.emplace_back("rollout/staleness", gathered.staleness);
  observe_stages(experience.samples, gathered.is_scored);
  begin_ahead(stop);
  const Stopwatch training;
  std::vector<char> is_unused;
  for (const char used : gathered.is_used) is_unused.push_back(static_cast<char>(used == 0));
  auto unused = chosen(experience.samples, is_unused);
  auto turns = chosen(experience.samples, gathered.is_used);
  TRY(is_early ? finish_learning(*gathered.learnt, metrics)
               : learn(turns, chosen(gathered.is_scored, gathered.is_used), metrics));
  experience.samples = std::move(turns);
  experience.append({.samples = std::move(unused)});
  const double trained = training.seconds() + learnt;
  const TimePoint recording = system_clock().now();
  for (const JudgedSample& judged : experience.samples) TRY(run_.directory().append(judged.sample));
  trace(TraceLane::training, "record", recording);
  StepSeconds seconds{.awaited = awaited, .training = trained, .whole = watch.seconds()};
  if (is_early) seconds.early = gathered.learnt->early_seconds;
  add_timings(experience, seconds, metrics);
  TRY(keep_trace(std::move(experience.spans)));
  recent_.push_back(metrics);
  if (recent_.size() > kRecent) recent_.pop_front();
  TRY(run_.finish_step(metrics, stop));
  show_progress("");
  return ok();
}

Result<RlLoop::Gathered> RlLoop::take_gathered() {
  auto gathered = Result<Gathered>(Gathered());
  if (ahead_.valid()) {
    gathered = ahead_.get();
  } else {
    refresh_behaviour();
    const Beginning beginning = beginning_of(run_.step() + 1, 0);
    gathered = config_.rollout.learn_early ? gather_and_learn(beginning) : gather(beginning);
  }
  if (!gathered) return gathered;
  lots_ += gathered->lots;
  run_.state()["lots"] = lots_;
  return gathered;
}

void RlLoop::begin_ahead(const StopFlag& stop) {
  if (config_.rollout.staleness == 0 || stop || run_.ends_in_checkpoint(run_.step() + 1)) return;
  refresh_behaviour();
  ahead_ = std::async(std::launch::async, [this, beginning = beginning_of(run_.step() + 2, 1)] {
    auto gathered = Result<Gathered>(Gathered());
    const Status status = without_exceptions([&]() -> Status {
      gathered = gather(beginning);
      return ok();
    });
    if (!status) return Result<Gathered>(tl::unexpected(status.error()));
    return gathered;
  });
}

RlLoop::Beginning RlLoop::beginning_of(std::int64_t step, int staleness) const {
  return {.step = step, .lots = lots_, .stages = stages_, .staleness = staleness};
}

void RlLoop::refresh_behaviour() {
  if (models_.behaviour == nullptr) return;
  const at::NoGradGuard no_grad;
  const auto& from = run_.learner().model().parameters();
  for (std::size_t i = 0; i < from.size(); ++i)
    models_.behaviour->parameters()[i].tensor.copy_(from[i].tensor);
}

Result<RlLoop::Gathered> RlLoop::gather(const Beginning& beginning) {
  Gathered gathered{.staleness = beginning.staleness};
  int wanted = config_.rollout.prompts;
  while (gathered.lots == 0 || (wanted > 0 && gathered.lots < config_.algorithm.sampling_lots)) {
    ++gathered.lots;
    TRY_ASSIGN(Experience lot, gather_lot(beginning, beginning.lots + gathered.lots,
                                          (gathered.lots - 1) * config_.rollout.prompts));
    const std::vector<char> is_scored = score(lot.samples, beginning.stages);
    wanted -= choose_groups(lot.samples, is_scored, wanted, gathered.is_used);
    gathered.is_scored.insert(gathered.is_scored.end(), is_scored.begin(), is_scored.end());
    gathered.experience.append(std::move(lot));
  }
  return gathered;
}

Result<Experience> RlLoop::gather_lot(const Beginning& beginning, std::int64_t lot, int first_group,
                                      TakeGroup on_group) {
  std::vector<Prompted> prompts;
  const auto count = static_cast<std::uint64_t>(config_.rollout.prompts);
  const auto first = static_cast<std::uint64_t>(lot - 1) * count;
  for (std::uint64_t i = 0; i < count; ++i) prompts.push_back(world_.prompts[order_.at(first + i)]);
  RolloutOptions options{.step = beginning.step,
                         .lot = lot,
                         .seed = config_.run.seed,
                         .samples = config_.rollout.samples,
                         .first_group = first_group,
                         .rank = run_.ranks().rank(),
                         .ranks = run_.ranks().size(),
                         .sampling = config_.rollout.sampling,
                         .episode = config_.episode_options(),
                         .is_traced = config_.trace.wants(beginning.step)};
  const at::NoGradGuard no_grad;
  TRY_ASSIGN(Experience mine,
             roll_out(prompts, options,
                      {.episode = {.writer = *models_.writer,
                                   .judge = world_.parts.judge,
                                   .faults = faults_,
                                   .score =
                                       [&](const Kernel& kernel, const Verdict& verdict) {
                                         const auto reward =
                                             reward::score({.kernel = kernel, .verdict = verdict},
                                                           config_.reward, beginning.stages);
                                         return reward ? reward->total : 0.0;
                                       }},
                       .on_progress =
                           [&](std::size_t written, std::size_t judged) {
                             if (beginning.staleness > 0) return;  // the loop's thread has the line
                             show_progress(fmt::format("; now {} written, {} judged of {}", written,
                                                       judged, config_.samples_per_step()));
                           },
                       .on_group = std::move(on_group)}));
  return experience_of_all(std::move(mine), run_.ranks());
}

std::vector<char> RlLoop::score(std::span<JudgedSample> samples,
                                const reward::StageState& stages) const {
  return score_samples(samples,
                       {.reward = config_.reward,
                        .stages = stages,
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
  TimePoint began = system_clock().now();
  GpuTurn turn(lease_, run_.learner().model().device());
  const auto pause = [&turn] { turn.give_way(); };
  CreditCounts counts;
  TRY_ASSIGN(const PolicyBatch batch, credited(turns, std::move(is_scored), pause, counts));
  trace(TraceLane::training, "log-probabilities", began);
  counts.add_to(metrics);
  began = system_clock().now();
  TRY(update(batch, pause, metrics));
  trace(TraceLane::training, "update", began);
  return ok();
}

Result<PolicyBatch> RlLoop::credited(std::span<JudgedSample> turns, std::vector<char> is_scored,
                                     const std::function<void()>& pause,
                                     CreditCounts& counts) const {
  PolicyBatch batch = policy_batch(turns);
  TRY(add_logprobs(batch, pause));
  add_kl_to_rewards(turns, batch);
  const Rejections rejections = assign_credit(turns, is_scored, config_.credit_rules(), batch);
  const algorithm::MismatchOptions mismatch = config_.mismatch_options();
  if (mismatch.rule != algorithm::MismatchRule::off)
    for (std::size_t g = 0; g < batch.segments(); ++g)
      batch.mismatch.push_back(
          algorithm::mismatch_weights(batch.old[g], batch.sampler[g], mismatch));
  counts.trained += std::ranges::count(batch.counts, 1);
  counts.mismatch += rejections.mismatch;
  counts.profile += rejections.profile;
  return batch;
}

void RlLoop::CreditCounts::add_to(Metrics& metrics) const {
  metrics.insert(metrics.end(), {{"samples/trained", static_cast<double>(trained)},
                                 {"samples/rejected_by_mismatch", static_cast<double>(mismatch)},
                                 {"samples/rejected_by_profile", static_cast<double>(profile)}});
}

// The trainer's and the reference's numbers, where anything needs them.
Status RlLoop::add_logprobs(PolicyBatch& batch, const std::function<void()>& pause) const {
  const PolicyGradientOptions options = gradient_options();
  const auto logprobs = [&](const model::Transformer& model) {
    return segment_logprobs_over_ranks(model,
                                       {.batch = batch,
                                        .temperature = options.temperature,
                                        .packing = options.packing,
                                        .pause = pause},
                                       run_.ranks());
  };
  if (models_.reference) {
    TRY_ASSIGN(batch.reference, logprobs(*models_.reference));
  }
  // What is trained on may be of older weights: the ratio is then to what sampled it, unless
  // importance weights see to the difference.
  if (config_.ratio_is_to_sampler()) {
    batch.old = batch.sampler;
  } else if (config_.updates_per_step() > 1 || config_.needs_old_logprobs()) {
    // With one update the weights are still those of the rollout: the ratio is 1.
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

Status RlLoop::update(const PolicyBatch& batch, const std::function<void()>& pause,
                      Metrics& metrics) {
  PolicyGradientOptions options = gradient_options();
  options.pause = pause;
  PolicyGradientReport last;
  UpdateReport report;
  std::int64_t tokens = 0, shared_tokens = 0;
  for (const auto& members : minibatches(batch)) {
    last = set_policy_gradient(run_.learner(), batch, members, options);
    TRY(sum_over_ranks(last, run_.ranks()));
    tokens += last.tokens;
    shared_tokens += last.shared_tokens;
    if (last.tokens == 0) continue;  // nothing in it counts
    TRY_ASSIGN(report, update_weights());
  }
  last.tokens = tokens;
  last.shared_tokens = shared_tokens;
  add_update_metrics(last, report, metrics);
  return ok();
}

PolicyGradientOptions RlLoop::gradient_options() const {
  return config_.gradient_options(run_.learner().model().device());
}

Result<UpdateReport> RlLoop::update_weights() {
  return run_.learner().update(config_.optimizer, config_.run.steps * config_.updates_per_step());
}

void RlLoop::add_update_metrics(const PolicyGradientReport& last, const UpdateReport& report,
                                Metrics& metrics) {
  metrics.insert(metrics.end(), {{"policy_loss", last.loss},
                                 {"surrogate", last.surrogate},
                                 {"entropy", last.entropy},
                                 {"kl", last.kl},
                                 {"clip_fraction", last.clip_fraction},
                                 {"logprob_difference/mean", last.difference_mean},
                                 {"logprob_difference/p50", last.differences.quantile(0.5)},
                                 {"logprob_difference/p95", last.differences.quantile(0.95)},
                                 {"logprob_difference/p99", last.differences.quantile(0.99)},
                                 {"logprob_difference/max", last.difference_max},
                                 {"learning_rate", report.learning_rate},
                                 {"grad_norm", report.grad_norm},
                                 {"shared_tokens", static_cast<double>(last.shared_tokens)},
                                 {"tokens", static_cast<double>(last.tokens)}});
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
      // Samples of one prompt side by side.
      if (gradient_options().packing.shares_prompts) std::ranges::sort(members);
    }
  }
  return all;
}

void RlLoop::trace(TraceLane lane, std::string name, TimePoint begin) {
  if (config_.trace.wants(run_.step() + 1))
    spans_.push_back(
        {.lane = lane, .name = std::move(name), .begin = begin, .end = system_clock().now()});
}

Status RlLoop::keep_trace(std::vector<TraceSpan> of_rollout) {
  const std::int64_t step = run_.step() + 1;
  if (!config_.trace.wants(step) || !run_.ranks().is_first()) return ok();
  spans_.insert(spans_.end(), of_rollout.begin(), of_rollout.end());
  return write_trace(run_.directory().path() / "trace.json", step, std::exchange(spans_, {}));
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
