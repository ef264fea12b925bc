#include "train/rl/check_algorithm.h"

namespace tritonsmith::train {
namespace {

using algorithm::AdvantageRule;
using algorithm::KlEstimator;
using algorithm::KlTerm;
using algorithm::Loss;
using algorithm::MismatchRule;

Status check_advantage(const AlgorithmSection& a) {
  const bool is_difference = a.advantage == AdvantageRule::rloo ||
                             a.advantage == AdvantageRule::trloo ||
                             a.advantage == AdvantageRule::mean_only;
  if (a.singleton == algorithm::Singleton::own_reward && !is_difference)
    return fail(
        "algorithm.singleton = own_reward goes with differences (trloo, rloo, mean_only): a raw "
        "reward among values divided by a deviation would be of another scale");
  return ok();
}

Status check_loss(const AlgorithmSection& a) {
  if (a.dual_clip > 0 && a.loss == Loss::cispo)
    return fail("algorithm.dual_clip has nothing to clip in cispo, whose weights are bounded");
  if (a.dual_clip > 0 && a.dual_clip <= 1 + a.clip_high)
    return fail(
        "algorithm.dual_clip = {} lies within the first bound of 1 + clip_high = {}: it must be "
        "above it",
        a.dual_clip, 1 + a.clip_high);
  if (a.loss == Loss::gspo && a.resolved_aggregation() != algorithm::Aggregation::sequence_mean)
    return fail(
        "algorithm.loss = gspo weighs whole sequences alike: only aggregation = sequence_mean "
        "(or of_loss) keeps it so");
  if (a.kl_beta > 0 && a.kl_term == KlTerm::loss && a.kl_estimator == KlEstimator::k1)
    return fail(
        "algorithm.kl_estimator = k1 in the loss has a mean gradient of 0 and teaches nothing; "
        "take k2 or k3, or kl_term = reward");
  return ok();
}

Status check_mismatch(const AlgorithmSection& a) {
  const bool is_mask =
      a.mismatch == MismatchRule::token_mask || a.mismatch == MismatchRule::sequence_mask;
  if (a.mismatch_floor > 0 && !is_mask)
    return fail("algorithm.mismatch_floor = {} goes with a mask; truncation has no floor",
                a.mismatch_floor);
  if (a.mismatch != MismatchRule::off && a.mismatch_cap < 1)
    return fail("algorithm.mismatch_cap = {} would hold back even tokens without any mismatch",
                a.mismatch_cap);
  if (a.mrs_high > 0 && a.mrs_high < 1)
    return fail("algorithm.mrs_high = {} rejects even trajectories without any mismatch",
                a.mrs_high);
  if (a.mrs_high == 0 && a.mrs_low > 0)
    return fail("algorithm.mrs_low = {} needs mrs_high: a band has two ends", a.mrs_low);
  return ok();
}

Status check_filters(const RlConfig& config) {
  const AlgorithmSection& a = config.algorithm;
  if (a.max_prompt_batches > 1 && !a.filter_groups)
    return fail(
        "algorithm.max_prompt_batches = {} needs filter_groups = true: without it every group "
        "counts "
        "and the first prompt batch fills the step",
        a.max_prompt_batches);
  if (a.overlong_weight > 0 &&
      (a.overlong_cache < 1 || a.overlong_cache > config.rollout.sampling.max_new_tokens))
    return fail(
        "algorithm.overlong_weight needs overlong_cache between 1 and rollout.max_new_tokens "
        "= {}; it is {}",
        config.rollout.sampling.max_new_tokens, a.overlong_cache);
  return ok();
}

// While a teacher teaches alone, rewards decide nothing.
Status check_teacher(const RlConfig& config) {
  if (!config.teacher.is_on() || !config.teacher.alone || !config.algorithm.filter_groups)
    return ok();
  return fail(
      "algorithm.filter_groups leaves out groups of equal rewards, and with teacher.alone = true "
      "rewards do not count: set one of them to false");
}

Status check_staleness(const RlConfig& config) {
  if (config.ratio_is_to_sampler() && config.credit_rules().mismatch.is_on())
    return fail(
        "rollout.staleness = {} makes up the difference that algorithm.mrs_high and mrs_veto "
        "reject by: set algorithm.mismatch too, which weighs what they leave",
        config.rollout.staleness);
  return ok();
}

// With learn_early, a group's part of the update may not depend on groups that come later.
Status check_early(const RlConfig& config) {
  if (!config.rollout.learn_early) return ok();
  const AlgorithmSection& a = config.algorithm;
  if (config.rollout.staleness > 0)
    return fail(
        "rollout.learn_early goes with staleness = 0: with 1 the update already runs beside the "
        "next rollout");
  if (a.advantage == AdvantageRule::batch_std || a.advantage == AdvantageRule::reinforce_baseline)
    return fail(
        "rollout.learn_early: algorithm.advantage = {} divides by the deviation of the whole step, "
        "which is not known before its last verdict",
        name_of(a.advantage));
  if (config.updates_per_step() > 1)
    return fail(
        "rollout.learn_early: with algorithm.epochs = {} and minibatches = {} the first update "
        "would come before the last verdict",
        a.epochs, a.minibatches);
  return ok();
}

// Refuses rewards that need measurements of a GPU if the evaluator judges.
Status check_measurements(const RlConfig& config) {
  if (config.judge.backend != Backend::evaluate) return ok();
  const auto refuse = [](std::string_view what, std::string_view needs) {
    return fail("{} needs {}, which judge.backend = evaluate never measures", what, needs);
  };
  if (config.reward.speed > 0) return refuse("reward.speed", "a speed-up");
  if (config.reward.coverage > 0) return refuse("reward.coverage", "coverage");
  if (config.algorithm.prs) return refuse("algorithm.prs", "coverage");
  return ok();
}

Status check_hierarchy(const RlConfig& config) {
  const AlgorithmSection& a = config.algorithm;
  if (a.credit != CreditKind::hierarchical) return ok();
  if (config.reward.speed <= 0 && config.reward.coverage <= 0)
    return fail(
        "algorithm.credit = hierarchical credits thinking by speed: set reward.speed (or "
        "reward.coverage)");
  if (a.loss == Loss::gspo)
    return fail(
        "algorithm.loss = gspo has one ratio for a whole completion, and cannot clip thinking and "
        "code apart as credit = hierarchical would need");
  if (a.kl_beta > 0 && a.kl_term == KlTerm::reward)
    return fail(
        "algorithm.kl_term = reward penalises whole completions; with credit = hierarchical "
        "there is no one reward to take it from: use kl_term = loss");
  return ok();
}

}  // namespace

Status check_algorithm(const RlConfig& config) {
  TRY(check_advantage(config.algorithm));
  TRY(check_loss(config.algorithm));
  TRY(check_mismatch(config.algorithm));
  TRY(check_filters(config));
  TRY(check_teacher(config));
  TRY(check_staleness(config));
  TRY(check_early(config));
  TRY(check_measurements(config));
  return check_hierarchy(config);
}

}  // namespace tritonsmith::train
