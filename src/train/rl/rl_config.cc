#include "train/rl/rl_config.h"

#include "train/rl/check_algorithm.h"

namespace tritonsmith::train {

Fields<TasksSection> TasksSection::fields() {
  using S = TasksSection;
  return {field("path", &S::path,
                "A suite (docs/tasks.md): a JSONL, a folder of task files, or "
                "curriculum:train=500. Held-out tasks in it are left out."),
          field("references", &S::references,
                "A JSONL file of {task, kernel} with known solutions, for reward.similarity.")};
}

Fields<RolloutSection> RolloutSection::fields() {
  using S = RolloutSection;
  Fields<S> fields = {
      field("prompts", &S::prompts, "How many different tasks a step has.", between(1, 1 << 20)),
      field("samples", &S::samples, "How many completions each task gets: a group.",
            between(1, 1 << 20)),
      field("staleness", &S::staleness,
            "0: strictly on-policy. 1: the next step's rollout starts during the update, with the "
            "weights from before it.",
            between(0, 1)),
      field("learn_early", &S::learn_early,
            "Begin the update with complete groups while others are still written and judged. The "
            "numbers stay the same.")};
  for (auto& inner : generate::SamplingParams::fields())
    fields.push_back(
        {.name = inner.name,
         .help = inner.help,
         .set = [set = inner.set](S& section,
                                  const Json& json) { return set(section.sampling, json); },
         .get = [get = inner.get](const S& section) { return get(section.sampling); }});
  return fields;
}

Fields<JudgeSection> JudgeSection::fields() {
  using S = JudgeSection;
  return {
      field("policy", &S::policy,
            "What an accepted kernel may leave to PyTorch: strict, fused or open."),
      field("backend", &S::backend, "Where kernels run: auto, evaluate (CPU) or replay (GPU)."),
      field("trials", &S::trials, "How many comparisons with fresh inputs a kernel must pass.",
            between(1, 1000)),
      field("patience_seconds", &S::patience_seconds,
            "A gym that gives no verdict for this long counts as broken.", between(1, 1 << 20)),
      field("url", &S::url,
            "The address of the `gym serve` that judges, such as http://127.0.0.1:8800. Empty: "
            "this program judges."),
      field("token_file", &S::token_file,
            "The file of the service's token. Empty: $TRITONSMITH_GYM_TOKEN."),
      field(
          "device", &S::device,
          "The class of devices of that service that judge: NVIDIA H200, sm_90, gpu or cpu. Empty: "
          "any, but of several kinds of GPUs only the most common one."),
      field("gpus", &S::gpus,
            "The numbers of the GPUs that kernels run on. Empty: a GPU that does not train, if "
            "there are several."),
      field("lease", &S::lease, "Time kernels alone: training on the same GPU pauses meanwhile.")};
}

Fields<RlConfig> RlConfig::fields() {
  Fields<RlConfig> fields;
  append_section(fields, "run", &RlConfig::run);
  append_section(fields, "model", &RlConfig::model);
  append_section(fields, "lora", &RlConfig::lora);
  append_section(fields, "tasks", &RlConfig::tasks);
  append_section(fields, "prompt", &RlConfig::prompt);
  append_section(fields, "turns", &RlConfig::turns);
  append_section(fields, "rollout", &RlConfig::rollout);
  append_section(fields, "engine", &RlConfig::engine);
  append_section(fields, "reward", &RlConfig::reward);
  append_section(fields, "reward", &RlConfig::url_reward);
  append_section(fields, "algorithm", &RlConfig::algorithm);
  append_section(fields, "teacher", &RlConfig::teacher);
  append_section(fields, "optimizer", &RlConfig::optimizer);
  append_section(fields, "judge", &RlConfig::judge);
  append_section(fields, "checkpoint", &RlConfig::checkpoint);
  append_section(fields, "trace", &RlConfig::trace);
  return fields;
}

bool RlConfig::needs_old_logprobs() const {
  return algorithm.mismatch != algorithm::MismatchRule::off || credit_rules().mismatch.is_on() ||
         (algorithm.kl_beta > 0 && algorithm.kl_term == algorithm::KlTerm::reward);
}

bool RlConfig::ratio_is_to_sampler() const {
  return rollout.staleness > 0 && algorithm.mismatch == algorithm::MismatchRule::off;
}

PolicyGradientOptions RlConfig::gradient_options(c10::Device device) const {
  const bool kl_in_loss = algorithm.kl_term == algorithm::KlTerm::loss;
  return {.policy = {.loss = algorithm.loss,
                     .clip_low = algorithm.clip_low,
                     .clip_high = algorithm.clip_high,
                     .dual_clip = algorithm.dual_clip,
                     .kl_beta = kl_in_loss ? algorithm.kl_beta : 0,
                     .kl_estimator = algorithm.kl_estimator},
          .ratio_is_to_sampler = ratio_is_to_sampler(),
          .entropy_beta = algorithm.entropy_beta,
          .aggregation = algorithm.resolved_aggregation(),
          .horizon = algorithm.horizon > 0 ? algorithm.horizon : rollout.sampling.max_new_tokens,
          .updates = algorithm.minibatches,
          .temperature = rollout.sampling.temperature,
          .packing = optimizer.packing(device)};
}

CreditRules RlConfig::credit_rules() const {
  CreditRules rules{.advantage = {.rule = algorithm.advantage,
                                  .deviation = algorithm.deviation,
                                  .epsilon = algorithm.epsilon,
                                  .singleton = algorithm.singleton},
                    .discount = algorithm.discount,
                    .kind = algorithm.credit,
                    .thinking_alpha = algorithm.thinking_alpha,
                    .mask_truncated = algorithm.mask_truncated,
                    .mismatch = {.band_low = algorithm.mrs_low,
                                 .band_high = algorithm.mrs_high,
                                 .veto = algorithm.mrs_veto},
                    .profile = {},
                    .seed = run.seed};
  if (algorithm.prs)
    rules.profile = {.begin = algorithm.prs_begin,
                     .width = algorithm.prs_width,
                     .keep_speedup = algorithm.prs_keep_speedup};
  return rules;
}

algorithm::MismatchOptions RlConfig::mismatch_options() const {
  return {
      .rule = algorithm.mismatch, .cap = algorithm.mismatch_cap, .floor = algorithm.mismatch_floor};
}

episode::EpisodeOptions RlConfig::episode_options() const {
  return {.turns = turns,
          .policy = judge.policy,
          .backend = judge.backend,
          .trials = judge.trials,
          .patience = std::chrono::seconds(judge.patience_seconds),
          .feedback = prompt.style};
}

Status check(const RlConfig& config, ModelLocation location) {
  TRY(check_sections(config.run, config.model, location));
  TRY(reward::check(config.url_reward));
  if (config.rollout.sampling.temperature <= 0)
    return fail(
        "rollout.temperature = 0: greedy completions of a task are all the same, and teach "
        "nothing");
  if (config.rollout.samples < 2 && !config.teacher.replaces_rewards())
    return fail(
        "rollout.samples = 1: a completion is compared with the others of its group, so at "
        "least 2 are needed");
  if (config.algorithm.minibatches > config.samples_per_step())
    return fail("algorithm.minibatches = {}, but a step has only {} samples",
                config.algorithm.minibatches, config.samples_per_step());
  if (config.reward.similarity > 0 && config.tasks.references.empty())
    return fail("reward.similarity = {} needs tasks.references", config.reward.similarity);
  return check_algorithm(config);
}

}  // namespace tritonsmith::train
