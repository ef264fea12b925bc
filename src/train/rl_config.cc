#include "train/rl_config.h"

namespace tritonsmith::train {

Fields<TasksSection> TasksSection::fields() {
  using S = TasksSection;
  return {
      field("path", &S::path,
            "a suite (docs/tasks.md): a JSONL, a folder of task files, or curriculum:train=500; "
            "held-out tasks in it are left out"),
      field("references", &S::references,
            "a JSONL file of {task, kernel}: known solutions, for reward.similarity")};
}

Fields<RolloutSection> RolloutSection::fields() {
  using S = RolloutSection;
  Fields<S> fields = {
      field("prompts", &S::prompts, "different tasks in a step", between(1, 1 << 20)),
      field("samples", &S::samples, "completions for each of them: a group", between(1, 1 << 20))};
  for (auto& inner : rollout::SamplingParams::fields())
    fields.push_back(
        {.name = inner.name,
         .help = inner.help,
         .set = [set = inner.set](S& section,
                                  const Json& json) { return set(section.sampling, json); },
         .get = [get = inner.get](const S& section) { return get(section.sampling); }});
  return fields;
}

Fields<AlgorithmSection> AlgorithmSection::fields() {
  using S = AlgorithmSection;
  return {field("advantage", &S::advantage,
                "grpo (group z-score), mean_only (difference to the group's mean) or rloo"),
          field("deviation", &S::deviation, "grpo: unbiased divides by n - 1, population by n"),
          field("epsilon", &S::epsilon, "grpo: added to the deviation", between(0.0, 1.0)),
          field("clip_low", &S::clip_low, "the ratio is clipped at 1 - this", between(0.0, 1.0)),
          field("clip_high", &S::clip_high, "and at 1 + this", between(0.0, 1e6)),
          field("kl_beta", &S::kl_beta,
                "weight of the k3 KL to the model the run began with; 0 keeps no copy of it",
                between(0.0, 100.0)),
          field("mismatch_cap", &S::mismatch_cap,
                "truncated importance weights for what sampler and trainer differ by; 0: off",
                between(0.0, 1e6)),
          field("aggregation", &S::aggregation, "token_mean, sequence_mean or fixed_length"),
          field("mask_truncated", &S::mask_truncated,
                "completions cut at max_new_tokens are not trained on"),
          field("epochs", &S::epochs, "passes over the samples of a step", between(1, 1000)),
          field("minibatches", &S::minibatches, "updates in each of them", between(1, 1000))};
}

Fields<JudgeSection> JudgeSection::fields() {
  using S = JudgeSection;
  return {field("policy", &S::policy, "strict, fused or open: what 'accepted' demands"),
          field("backend", &S::backend, "auto, evaluate (CPU) or replay (GPU)"),
          field("trials", &S::trials, "comparisons with fresh inputs", between(1, 1000)),
          field("patience_seconds", &S::patience_seconds,
                "a gym that gives no verdict for so long is broken", between(1, 1 << 20))};
}

Fields<RlConfig> RlConfig::fields() {
  Fields<RlConfig> fields;
  append_section(fields, "run", &RlConfig::run);
  append_section(fields, "model", &RlConfig::model);
  append_section(fields, "tasks", &RlConfig::tasks);
  append_section(fields, "prompt", &RlConfig::prompt);
  append_section(fields, "rollout", &RlConfig::rollout);
  append_section(fields, "reward", &RlConfig::reward);
  append_section(fields, "algorithm", &RlConfig::algorithm);
  append_section(fields, "optimizer", &RlConfig::optimizer);
  append_section(fields, "judge", &RlConfig::judge);
  append_section(fields, "checkpoint", &RlConfig::checkpoint);
  return fields;
}

PolicyGradientOptions RlConfig::gradient_options() const {
  return {.policy = {.clip_low = algorithm.clip_low,
                     .clip_high = algorithm.clip_high,
                     .kl_beta = algorithm.kl_beta,
                     .mismatch_cap = algorithm.mismatch_cap},
          .aggregation = algorithm.aggregation,
          .horizon = rollout.sampling.max_new_tokens,
          .temperature = rollout.sampling.temperature,
          .budget = optimizer.micro_batch_tokens};
}

Status check(const RlConfig& config) {
  TRY(check_sections(config.run, config.model));
  if (config.rollout.sampling.temperature <= 0)
    return fail(
        "rollout.temperature = 0: greedy completions of a task are all the same, and teach "
        "nothing");
  if (config.rollout.samples < 2)
    return fail(
        "rollout.samples = 1: a completion is compared with the others of its group, so at "
        "least 2 are needed");
  if (config.algorithm.minibatches > config.samples_per_step())
    return fail("algorithm.minibatches = {}, but a step has only {} samples",
                config.algorithm.minibatches, config.samples_per_step());
  if (config.reward.similarity > 0 && config.tasks.references.empty())
    return fail("reward.similarity = {} needs tasks.references", config.reward.similarity);
  return ok();
}

}  // namespace tritonsmith::train
