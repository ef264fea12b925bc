#include "train/rl/rl_loop.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "train/experience/scoring.h"
#include "train/run/sample_text.h"

namespace tritonsmith::train {
namespace {

struct StepSeconds {
  double awaited = 0;  // the time without a group to train on
  double training = 0, whole = 0;
  std::optional<double> early;  // the training time while other groups were gathered
};

void add_update(const StepUpdate& step, Metrics& metrics) {
  const PolicyGradientReport& last = step.gradient;
  metrics.insert(metrics.end(),
                 {{"samples/trained", static_cast<double>(step.counts.trained)},
                  {"samples/rejected_by_mismatch", static_cast<double>(step.counts.mismatch)},
                  {"samples/rejected_by_profile", static_cast<double>(step.counts.profile)},
                  {"policy_loss", last.loss},
                  {"surrogate", last.surrogate},
                  {"entropy", last.entropy},
                  {"kl", last.kl},
                  {"clip_fraction", last.clip_fraction},
                  {"logprob_difference/mean", last.difference_mean},
                  {"logprob_difference/p50", last.differences.quantile(0.5)},
                  {"logprob_difference/p95", last.differences.quantile(0.95)},
                  {"logprob_difference/p99", last.differences.quantile(0.99)},
                  {"logprob_difference/max", last.difference_max},
                  {"learning_rate", step.weights.learning_rate},
                  {"grad_norm", step.weights.grad_norm},
                  {"shared_tokens", static_cast<double>(last.shared_tokens)},
                  {"tokens", static_cast<double>(last.tokens)}});
  const TeacherKl& teacher = step.counts.teacher;
  if (teacher.tokens > 0)
    metrics.emplace_back("teacher/kl", teacher.sum / static_cast<double>(teacher.tokens));
}

void add_timings(const Experience& experience, std::int64_t trained_tokens,
                 const StepSeconds& seconds, Metrics& metrics) {
  const episode::Activity& activity = experience.activity;
  double generated = 0;
  for (const JudgedSample& judged : experience.samples)
    generated += static_cast<double>(judged.sample.completion.tokens.size());
  metrics.insert(
      metrics.end(),
      {{"tokens_per_second",
        static_cast<double>(trained_tokens) / std::max(seconds.training, 1e-9)},
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

}  // namespace

void RlLoop::Rollouts::add(ScoredGroup group) {
  is_scored.insert(is_scored.end(), group.is_scored.begin(), group.is_scored.end());
  is_used.insert(is_used.end(), group.samples.size(), static_cast<char>(group.is_used));
  experience.append({.samples = std::move(group.samples)});
}

RlLoop::RlLoop(RlWorld world, TrainingRun& run, RlModels models)
    : world_(std::move(world)),
      config_(world_.config),
      run_(run),
      models_(std::move(models)),
      progress_("rl", static_cast<std::size_t>(config_.run.steps),
                static_cast<std::size_t>(run_.step())),
      trace_(config_.trace, run_),
      updater_(config_, run_,
               {.reference = models_.reference ? &*models_.reference : nullptr,
                .teacher = models_.teacher ? &*models_.teacher : nullptr},
               trace_),
      gatherer_(world_, run_, *models_.writer,
                [this](std::string_view more) { show_progress(more); }) {}

Result<RlSummary> RlLoop::run(const StopFlag& stop) {
  TRY(restore_state());
  TRY(updater_.open_lease(world_.parts.gpu_lease));
  for (;;) {
    TRY_ASSIGN(const bool goes_on, run_.goes_on(stop));
    if (!goes_on) break;
    TRY(without_exceptions([&] { return step(stop); }));
  }
  return RlSummary{.steps = run_.step(),
                   .reward = recent_mean(run_.recent(), "reward/mean"),
                   .accepted = recent_mean(run_.recent(), "stage/accepted"),
                   .checkpoint = run_.checkpoint_path(),
                   .is_finished = run_.is_finished()};
}

// A checkpoint of the previous version has "lots" for "prompt_batches".
Status RlLoop::restore_state() {
  prompt_batches_ = run_.step();  // one per step, unless the state holds another number
  for (const char* name : {"lots", "prompt_batches"})
    if (run_.state().contains(name)) TRY(read_value(run_.state()[name], prompt_batches_));
  if (!run_.state().contains("stages")) return ok();
  TRY_ASSIGN(stages_, reward::stage_state_from_json(run_.state()["stages"]));
  return ok();
}

Status RlLoop::step(const StopFlag& stop) {
  const Stopwatch watch;
  const auto stream = open_rollouts();
  TRY_ASSIGN(Rollouts rollouts, gather(*stream));
  observe_stages(rollouts);
  begin_ahead(stop);

  const Stopwatch training;
  TRY_ASSIGN(const StepUpdate updated, update(rollouts));
  const double trained = training.seconds() + rollouts.training_seconds;
  // The update takes the KL from the rewards, so they are complete only now.
  Metrics metrics = sample_metrics(rollouts.experience.samples, rollouts.is_scored);
  metrics.emplace_back("groups/prompt_batches", rollouts.prompt_batches);
  metrics.emplace_back("rollout/staleness", rollouts.staleness);
  add_update(updated, metrics);

  const TimePoint recording = system_clock().now();
  const Experience& experience = rollouts.experience;
  for (const JudgedSample& judged : experience.samples) TRY(run_.directory().append(judged.sample));
  TRY(record_examples(experience.samples));
  trace_.add(TraceLane::training, "record", recording);
  StepSeconds seconds{
      .awaited = rollouts.waited_seconds, .training = trained, .whole = watch.seconds()};
  if (config_.rollout.learn_early) seconds.early = rollouts.early_seconds;
  add_timings(experience, updated.gradient.tokens, seconds, metrics);
  TRY(trace_.write(experience.spans));
  TRY(run_.finish_step(metrics, stop));
  show_progress("");
  return ok();
}

std::unique_ptr<RolloutStream> RlLoop::open_rollouts() {
  if (ahead_ != nullptr) return std::move(ahead_);
  return begin_rollouts(run_.step() + 1, 0,
                        config_.rollout.learn_early ? RolloutStream::Runs::on_own_thread
                                                    : RolloutStream::Runs::in_next);
}

std::unique_ptr<RolloutStream> RlLoop::begin_rollouts(std::int64_t step, int staleness,
                                                      RolloutStream::Runs runs) {
  refresh_behaviour();
  return std::make_unique<RolloutStream>(gatherer_,
                                         RolloutStart{.step = step,
                                                      .prompt_batches = prompt_batches_,
                                                      .stages = stages_,
                                                      .staleness = staleness},
                                         runs);
}

void RlLoop::begin_ahead(const StopFlag& stop) {
  if (config_.rollout.staleness == 0 || stop || run_.ends_in_checkpoint(run_.step() + 1)) return;
  ahead_ = begin_rollouts(run_.step() + 2, 1, RolloutStream::Runs::on_own_thread);
}

Result<RlLoop::Rollouts> RlLoop::gather(RolloutStream& stream) {
  const Stopwatch watch;
  const TimePoint began = system_clock().now();
  const bool learns_early = config_.rollout.learn_early;
  Rollouts rollouts{.staleness = stream.staleness()};
  if (learns_early) updater_.begin_early();
  while (auto group = stream.next()) {
    const Stopwatch training;
    if (learns_early && group->is_used) TRY(updater_.add_early(*group));
    rollouts.add(*std::move(group));
    if (!learns_early) continue;
    rollouts.training_seconds += training.seconds();
    if (stream.is_gathering()) rollouts.early_seconds += training.seconds();
  }
  TRY_ASSIGN(GatheringTotals totals, stream.finish());
  rollouts.prompt_batches = totals.prompt_batches;
  rollouts.experience.append(std::move(totals.experience));
  rollouts.waited_seconds = watch.seconds() - rollouts.training_seconds;
  if (!learns_early) trace_.add(TraceLane::rollout, "await rollout", began);
  prompt_batches_ += rollouts.prompt_batches;
  run_.state()["prompt_batches"] = prompt_batches_;
  return rollouts;
}

Result<StepUpdate> RlLoop::update(Rollouts& rollouts) {
  std::vector<JudgedSample> turns, unused;
  std::vector<char> is_scored, unused_is_scored;
  for (std::size_t i = 0; i < rollouts.is_used.size(); ++i) {
    const bool is_used = rollouts.is_used[i] != 0;
    (is_used ? is_scored : unused_is_scored).push_back(rollouts.is_scored[i]);
    (is_used ? turns : unused).push_back(std::move(rollouts.experience.samples[i]));
  }
  auto updated =
      config_.rollout.learn_early ? updater_.finish_early() : updater_.update(turns, is_scored);
  rollouts.experience.samples = std::move(turns);
  rollouts.experience.append({.samples = std::move(unused)});
  rollouts.is_scored = std::move(is_scored);
  rollouts.is_scored.insert(rollouts.is_scored.end(), unused_is_scored.begin(),
                            unused_is_scored.end());
  return updated;
}

void RlLoop::refresh_behaviour() {
  if (models_.behaviour == nullptr) return;
  const at::NoGradGuard no_grad;
  const auto& from = run_.learner().model().parameters();
  for (std::size_t i = 0; i < from.size(); ++i)
    models_.behaviour->parameters()[i].tensor.copy_(from[i].tensor);
}

void RlLoop::observe_stages(const Rollouts& rollouts) {
  std::vector<Reward> rewards;
  for (std::size_t i = 0; i < rollouts.is_scored.size(); ++i)
    if (rollouts.is_scored[i] != 0) rewards.push_back(rollouts.experience.samples[i].sample.reward);
  stages_.observe(rewards, config_.reward);
  run_.state()["stages"] = reward::to_json(stages_);
}

// Records each step's completions with the highest and the lowest reward, for TensorBoard.
Status RlLoop::record_examples(std::span<const JudgedSample> samples) {
  const auto [worst, best] = std::ranges::minmax_element(
      samples, {}, [](const JudgedSample& judged) { return judged.sample.reward.total; });
  if (best == samples.end()) return ok();
  RunDirectory& directory = run_.directory();
  const std::int64_t step = run_.step() + 1;
  TRY(directory.append_text(step, "completions/best", text_of_sample(best->sample)));
  return directory.append_text(step, "completions/worst", text_of_sample(worst->sample));
}

void RlLoop::show_progress(std::string_view more) {
  progress_.advance_to(
      static_cast<std::size_t>(run_.step()),
      fmt::format("reward {:.3f}, accepted {:.0f} %{}", recent_mean(run_.recent(), "reward/mean"),
                  100 * recent_mean(run_.recent(), "stage/accepted"), more));
}

}  // namespace tritonsmith::train
