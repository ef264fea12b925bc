#include "train/rl/policy_updater.h"

#include <algorithm>

#include "base/check.h"

namespace tritonsmith::train {

Status PolicyUpdater::open_lease(const std::filesystem::path& file) {
  if (file.empty()) return ok();
  TRY_ASSIGN(lease_, Lease::open(file));
  return ok();
}

Result<StepUpdate> PolicyUpdater::update(std::span<JudgedSample> turns,
                                         std::vector<char> is_scored) {
  StepUpdate step;
  TimePoint began = system_clock().now();
  gpu_.emplace(lease_, run_.learner().model().device());
  TRY_ASSIGN(const PolicyBatch batch, assign(turns, std::move(is_scored), step.counts));
  trace_.add(TraceLane::training, "log-probabilities", began);
  began = system_clock().now();
  TRY(update_by(batch, step));
  trace_.add(TraceLane::training, "update", began);
  gpu_.reset();
  return step;
}

void PolicyUpdater::begin_early() { early_.emplace(run_.learner(), gradient_options()); }

Status PolicyUpdater::add_early(ScoredGroup& group) {
  CHECK(early_, "begin_early() comes first");
  const TimePoint began = system_clock().now();
  gpu_.emplace(lease_, run_.learner().model().device());
  TRY_ASSIGN(PolicyBatch batch, assign(group.samples, group.is_scored, early_->counts));
  early_->gradient.add(std::move(batch));
  gpu_->settle();
  gpu_.reset();
  trace_.add(TraceLane::training, "gradient", began);
  return ok();
}

Result<StepUpdate> PolicyUpdater::finish_early() {
  CHECK(early_, "begin_early() comes first");
  const TimePoint began = system_clock().now();
  gpu_.emplace(lease_, run_.learner().model().device());
  StepUpdate step{
      .counts = early_->counts, .gradient = std::move(early_->gradient).finish(), .weights = {}};
  if (step.gradient.tokens > 0) {
    TRY_ASSIGN(step.weights, update_weights());
  }
  gpu_.reset();
  early_.reset();
  trace_.add(TraceLane::training, "update", began);
  return step;
}

Result<PolicyBatch> PolicyUpdater::assign(std::span<JudgedSample> turns,
                                          std::vector<char> is_scored, CreditCounts& counts) {
  PolicyBatch batch = policy_batch(turns);
  TRY(add_logprobs(batch));
  add_kl_to_rewards(turns, batch);
  const Rejections rejections = assign_credit(turns, is_scored, config_.credit_rules(), batch);
  const algorithm::MismatchOptions mismatch = config_.mismatch_options();
  if (mismatch.rule != algorithm::MismatchRule::off)
    for (std::size_t g = 0; g < batch.segments(); ++g)
      batch.mismatch.push_back(
          algorithm::mismatch_weights(batch.old[g], batch.sampler[g], mismatch));
  TRY(learn_from_teacher(batch, counts));
  counts.trained += std::ranges::count(batch.counts, 1);
  counts.mismatch += rejections.mismatch;
  counts.profile += rejections.profile;
  return batch;
}

Result<TokenColumn> PolicyUpdater::logprobs_of(const model::Transformer& model,
                                               const PolicyBatch& batch) {
  const PolicyGradientOptions options = gradient_options();
  return segment_logprobs_over_ranks(model,
                                     {.batch = batch,
                                      .temperature = options.temperature,
                                      .packing = options.packing,
                                      .pause = options.pause},
                                     run_.ranks());
}

Status PolicyUpdater::learn_from_teacher(PolicyBatch& batch, CreditCounts& counts) {
  if (frozen_.teacher == nullptr || !config_.teacher.teaches_after(run_.step())) return ok();
  TRY_ASSIGN(const TokenColumn logprobs, logprobs_of(*frozen_.teacher, batch));
  const TeacherKl kl = apply_teacher(config_.teacher, logprobs, batch);
  counts.teacher.sum += kl.sum;
  counts.teacher.tokens += kl.tokens;
  return ok();
}

Status PolicyUpdater::add_logprobs(PolicyBatch& batch) {
  if (frozen_.reference != nullptr) {
    TRY_ASSIGN(batch.reference, logprobs_of(*frozen_.reference, batch));
  }
  // The sampling weights may be older. The ratio is then that to the sampler, unless importance
  // weights correct the difference.
  if (config_.ratio_is_to_sampler()) {
    batch.old = batch.sampler;
    // The difference between sampler and trainer is that of the weights before the step's updates.
    if (config_.updates_per_step() > 1) {
      TRY_ASSIGN(batch.trainer, logprobs_of(run_.learner().model(), batch));
    }
  } else if (config_.updates_per_step() > 1 || config_.needs_old_logprobs()) {
    // With one update the weights are still those of the rollout, so the ratio is 1.
    TRY_ASSIGN(batch.old, logprobs_of(run_.learner().model(), batch));
  }
  return ok();
}

void PolicyUpdater::add_kl_to_rewards(std::span<JudgedSample> turns,
                                      const PolicyBatch& batch) const {
  const AlgorithmSection& rules = config_.algorithm;
  if (rules.kl_beta <= 0 || rules.kl_term != algorithm::KlTerm::reward) return;
  for (std::size_t g = 0; g < turns.size(); ++g) {
    Reward& reward = turns[g].sample.reward;
    const double kl =
        algorithm::kl_of_completion(batch.old[g], batch.reference[g], rules.kl_estimator);
    reward.terms.push_back({"kl", kl, -rules.kl_beta});
    reward.total -= rules.kl_beta * kl;
  }
}

Status PolicyUpdater::update_by(const PolicyBatch& batch, StepUpdate& step) {
  const PolicyGradientOptions options = gradient_options();
  std::int64_t tokens = 0, shared_tokens = 0;
  for (const auto& members : minibatches(batch)) {
    step.gradient = set_policy_gradient(run_.learner(), batch, members, options);
    TRY(sum_over_ranks(step.gradient, run_.ranks()));
    tokens += step.gradient.tokens;
    shared_tokens += step.gradient.shared_tokens;
    if (step.gradient.tokens == 0) continue;  // no member counts
    TRY_ASSIGN(step.weights, update_weights());
  }
  step.gradient.tokens = tokens;
  step.gradient.shared_tokens = shared_tokens;
  return ok();
}

PolicyGradientOptions PolicyUpdater::gradient_options() {
  PolicyGradientOptions options = config_.gradient_options(run_.learner().model().device());
  options.pause = [this] {
    if (gpu_) gpu_->give_way();
  };
  return options;
}

Result<UpdateReport> PolicyUpdater::update_weights() {
  return run_.learner().update(config_.optimizer, config_.run.steps * config_.updates_per_step());
}

std::vector<std::vector<std::size_t>> PolicyUpdater::minibatches(const PolicyBatch& batch) const {
  const auto parts = static_cast<std::size_t>(config_.algorithm.minibatches);
  const std::size_t count = batch.sequences.size();
  const bool shares_prompts =
      config_.optimizer.packing(run_.learner().model().device()).shares_prompts;
  std::vector<std::vector<std::size_t>> all;
  if (count == 0) return all;  // every group was filtered out
  for (int epoch = 0; epoch < config_.algorithm.epochs; ++epoch) {
    const auto number = static_cast<std::uint64_t>(run_.step() * config_.algorithm.epochs + epoch);
    EpochOrder order(config_.run.seed, fmt::format("rl minibatches {}", number), count);
    for (std::size_t part = 0; part < parts; ++part) {
      auto& members = all.emplace_back();
      for (std::size_t i = part * count / parts; i < (part + 1) * count / parts; ++i)
        members.push_back(parts == 1 ? i : order.at(i));
      // Samples of one prompt are placed side by side.
      if (shares_prompts) std::ranges::sort(members);
    }
  }
  return all;
}

}  // namespace tritonsmith::train
