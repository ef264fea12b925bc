#include "train/rl/rollout_gatherer.h"

#include <ATen/core/grad_mode.h>

#include "train/experience/experience_exchange.h"
#include "train/experience/scoring.h"

namespace tritonsmith::train {

RolloutGatherer::RolloutGatherer(const RlWorld& world, TrainingRun& run,
                                 generate::TokenWriter& writer, ShowProgress show_progress)
    : world_(world),
      config_(world.config),
      run_(run),
      writer_(writer),
      show_progress_(std::move(show_progress)),
      order_(config_.run.seed, "rl tasks", world_.prompts.size()) {}

std::size_t RolloutGatherer::most_groups() const {
  return static_cast<std::size_t>(config_.rollout.prompts) *
         static_cast<std::size_t>(config_.algorithm.max_prompt_batches);
}

Result<GatheringTotals> RolloutGatherer::gather(const RolloutStart& start,
                                                const TakeGroup& take_group) {
  GatheringTotals totals;
  int wanted = config_.rollout.prompts;
  const TakeSamples take_samples = [&](std::vector<JudgedSample> samples) {
    ScoredGroup group = score(std::move(samples), start.stages);
    group.is_used = wanted > 0 && teaches(group);
    wanted -= group.is_used ? 1 : 0;
    take_group(std::move(group));
  };
  while (totals.prompt_batches == 0 ||
         (wanted > 0 && totals.prompt_batches < config_.algorithm.max_prompt_batches)) {
    ++totals.prompt_batches;
    TRY_ASSIGN(Experience batch, roll_out_batch(start, totals.prompt_batches, take_samples));
    totals.experience.append(std::move(batch));
  }
  return totals;
}

std::vector<Prompted> RolloutGatherer::choose_prompts(std::int64_t batch) {
  std::vector<Prompted> prompts;
  const auto count = static_cast<std::uint64_t>(config_.rollout.prompts);
  const auto first = static_cast<std::uint64_t>(batch - 1) * count;
  for (std::uint64_t i = 0; i < count; ++i) prompts.push_back(world_.prompts[order_.at(first + i)]);
  return prompts;
}

Result<Experience> RolloutGatherer::roll_out_batch(const RolloutStart& start, int number,
                                                   const TakeSamples& take_samples) {
  const std::int64_t batch = start.prompt_batches + number;
  const std::vector<Prompted> prompts = choose_prompts(batch);
  RolloutOptions options{.step = start.step,
                         .prompt_batch = batch,
                         .seed = config_.run.seed,
                         .samples = config_.rollout.samples,
                         .first_group = (number - 1) * config_.rollout.prompts,
                         .rank = run_.ranks().rank(),
                         .ranks = run_.ranks().size(),
                         .sampling = config_.rollout.sampling,
                         .episode = config_.episode_options(),
                         .is_traced = config_.trace.wants(start.step)};
  Status asked;
  const TakeSamples take_group = [&](std::vector<JudgedSample> samples) {
    if (asked) asked = ask_url(samples);
    if (asked) take_samples(std::move(samples));
  };
  const at::NoGradGuard no_grad;
  TRY_ASSIGN(
      Experience mine,
      roll_out(prompts, options,
               {.episode = {.writer = writer_,
                            .judge = world_.parts.judge,
                            .faults = faults_,
                            .score =
                                [&](const Kernel& kernel, const Verdict& verdict) {
                                  const auto reward =
                                      reward::score({.kernel = kernel, .verdict = verdict},
                                                    config_.reward, start.stages);
                                  return reward ? reward->total : 0.0;
                                }},
                .on_progress =
                    [&](std::size_t written, std::size_t judged) {
                      if (start.staleness > 0) return;  // the loop's thread writes this line
                      show_progress_(fmt::format("; now {} written, {} judged of {}", written,
                                                 judged, config_.samples_per_step()));
                    },
                .on_group = config_.rollout.learn_early ? take_group : nullptr}));
  TRY(asked);
  TRY(ask_url(mine.samples));
  TRY_ASSIGN(Experience all, experience_of_all(std::move(mine), run_.ranks()));
  std::vector<JudgedSample> samples = std::exchange(all.samples, {});
  for (const Span& group : groups_of(samples)) {
    const auto begin = std::make_move_iterator(samples.begin());
    take_samples({begin + static_cast<std::ptrdiff_t>(group.begin),
                  begin + static_cast<std::ptrdiff_t>(group.end)});
  }
  return all;
}

Status RolloutGatherer::ask_url(std::span<JudgedSample> samples) const {
  if (config_.url_reward.url.empty() || samples.empty()) return ok();
  TRY_ASSIGN(const auto url, reward::UrlReward::make(config_.url_reward));
  return add_url_terms(samples, url, config_.url_reward.url_weight);
}

ScoredGroup RolloutGatherer::score(std::vector<JudgedSample> samples,
                                   const reward::StageState& stages) const {
  ScoredGroup group{.samples = std::move(samples)};
  group.is_scored = score_samples(group.samples,
                                  {.reward = config_.reward,
                                   .stages = stages,
                                   .overlong_weight = config_.algorithm.overlong_weight,
                                   .overlong_cache = config_.algorithm.overlong_cache,
                                   .max_new_tokens = config_.rollout.sampling.max_new_tokens},
                                  world_.parts.references);
  return group;
}

bool RolloutGatherer::teaches(const ScoredGroup& group) const {
  return !config_.algorithm.filter_groups ||
         has_variance(group.samples, group.is_scored, config_.algorithm.filter_deviation);
}

}  // namespace tritonsmith::train
