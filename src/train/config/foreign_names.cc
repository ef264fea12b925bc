#include "train/config/foreign_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::train {
namespace {

// clang-format off
constexpr ForeignName kForeignNames[] = {
    {"TRL", "num_generations", "rollout.samples", ""},
    {"TRL", "generation_batch_size", "rollout.prompts", "which counts prompts"},
    {"TRL", "steps_per_generation", "algorithm.minibatches", "which counts updates"},
    {"TRL", "gradient_accumulation_steps", "algorithm.minibatches", "which counts updates"},
    {"TRL", "gradient_accumulation_steps", "data.step_tokens", "which counts tokens"},
    {"TRL", "num_iterations", "algorithm.epochs", ""},
    {"TRL", "per_device_train_batch_size", "optimizer.micro_batch_tokens", "which counts tokens"},
    {"TRL", "max_completion_length", "rollout.max_new_tokens", ""},
    {"TRL", "temperature", "rollout.temperature", ""},
    {"TRL", "top_p", "rollout.top_p", ""},
    {"TRL", "top_k", "rollout.top_k", ""},
    {"TRL", "generation_kwargs", "rollout.stop", "for its `stop`"},
    {"TRL", "vllm_gpu_memory_utilization", "engine.cache_mib", "in MiB"},
    {"TRL", "max_tool_calling_iterations", "turns.limit", ""},
    {"TRL", "scale_rewards", "algorithm.advantage", ""},
    {"TRL", "reward_weights", "reward", "with one weight a term"},
    {"TRL", "multi_objective_aggregation", "", "algorithm.credit comes nearest"},
    {"TRL", "loss_type", "algorithm.loss", ""},
    {"TRL", "importance_sampling_level", "algorithm.loss", "where \"gspo\" weighs sequences"},
    {"TRL", "epsilon", "algorithm.clip_low", ""},
    {"TRL", "epsilon_high", "algorithm.clip_high", ""},
    {"TRL", "delta", "algorithm.dual_clip", ""},
    {"TRL", "beta", "algorithm.kl_beta", ""},
    {"TRL", "entropy_coef", "algorithm.entropy_beta", ""},
    {"TRL", "vllm_importance_sampling_correction", "algorithm.mismatch", ""},
    {"TRL", "vllm_importance_sampling_mode", "algorithm.mismatch", ""},
    {"TRL", "vllm_importance_sampling_clip_max", "algorithm.mismatch_cap", ""},
    {"TRL", "vllm_importance_sampling_clip_min", "algorithm.mismatch_floor", ""},
    {"TRL", "off_policy_mask_threshold", "algorithm.mrs_low", "together with algorithm.mrs_high"},
    {"TRL", "mask_truncated_completions", "algorithm.mask_truncated", ""},
    {"TRL", "learning_rate", "optimizer.learning_rate", ""},
    {"TRL", "lr_scheduler_type", "optimizer.schedule", ""},
    {"TRL", "warmup_steps", "optimizer.warmup_updates", "which counts updates"},
    {"TRL", "adam_beta1", "optimizer.beta1", ""},
    {"TRL", "adam_beta2", "optimizer.beta2", ""},
    {"TRL", "adam_epsilon", "optimizer.epsilon", ""},
    {"TRL", "weight_decay", "optimizer.weight_decay", ""},
    {"TRL", "max_grad_norm", "optimizer.max_grad_norm", ""},
    {"TRL", "gradient_checkpointing", "model.recompute", "for example \"layers\""},
    {"TRL", "bf16", "model.precision", ""},
    {"TRL", "fp16", "model.precision", ""},
    {"TRL", "r", "lora.rank", ""},
    {"TRL", "lora_alpha", "lora.alpha", ""},
    {"TRL", "target_modules", "lora.targets", ""},
    {"TRL", "output_dir", "run.dir", ""},
    {"TRL", "max_steps", "run.steps", ""},
    {"TRL", "num_train_epochs", "run.steps", "which counts steps"},
    {"TRL", "seed", "run.seed", ""},
    {"TRL", "save_steps", "checkpoint.every", ""},
    {"TRL", "save_total_limit", "checkpoint.keep_last", ""},
    {"TRL", "resume_from_checkpoint", "", "the same command continues the run"},
    {"TRL", "log_completions", "", "every sample is recorded in samples.jsonl"},
    {"TRL", "report_to", "", "a run always writes JSONL and TensorBoard"},
    {"TRL", "train_dataset", "data.examples", ""},
    {"TRL", "eval_dataset", "data.heldout", ""},
    {"TRL", "eval_steps", "data.heldout_every", ""},
    {"TRL", "eval_steps", "", "`tritonsmith eval` measures a checkpoint"},
    {"TRL", "max_length", "data.max_tokens", "and longer examples are left out"},
    {"TRL", "packing", "", "examples are always packed"},
    {"TRL", "completion_only_loss", "", "the loss is always of completions alone"},

    {"verl", "actor_rollout_ref.rollout.n", "rollout.samples", ""},
    {"verl", "data.train_batch_size", "rollout.prompts", ""},
    {"verl", "actor_rollout_ref.actor.ppo_mini_batch_size", "algorithm.minibatches", "which counts updates"},
    {"verl", "actor_rollout_ref.actor.ppo_epochs", "algorithm.epochs", ""},
    {"verl", "actor_rollout_ref.actor.ppo_max_token_len_per_gpu", "optimizer.micro_batch_tokens", ""},
    {"verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "optimizer.micro_batch_tokens", "which counts tokens"},
    {"verl", "data.max_response_length", "rollout.max_new_tokens", ""},
    {"verl", "data.max_prompt_length", "engine.max_length", "for prompt and completion together"},
    {"verl", "actor_rollout_ref.rollout.temperature", "rollout.temperature", ""},
    {"verl", "actor_rollout_ref.rollout.top_p", "rollout.top_p", ""},
    {"verl", "actor_rollout_ref.rollout.top_k", "rollout.top_k", "where 0 sets no limit"},
    {"verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "engine.cache_mib", "in MiB"},
    {"verl", "actor_rollout_ref.rollout.max_num_seqs", "engine.slots", ""},
    {"verl", "actor_rollout_ref.rollout.max_num_batched_tokens", "engine.prefill_tokens", ""},
    {"verl", "trainer.v1.trainer_mode", "rollout.staleness", ""},
    {"verl", "actor_rollout_ref.rollout.multi_turn.max_assistant_turns", "turns.limit", ""},
    {"verl", "algorithm.adv_estimator", "algorithm.advantage", ""},
    {"verl", "algorithm.norm_adv_by_std_in_grpo", "algorithm.advantage", "where \"mean_only\" divides by nothing"},
    {"verl", "algorithm.gamma", "algorithm.discount", "between turns"},
    {"verl", "actor_rollout_ref.actor.policy_loss.loss_mode", "algorithm.loss", ""},
    {"verl", "actor_rollout_ref.actor.loss_agg_mode", "algorithm.loss", "or algorithm.aggregation"},
    {"verl", "actor_rollout_ref.actor.loss_scale_factor", "algorithm.horizon", ""},
    {"verl", "actor_rollout_ref.actor.clip_ratio_low", "algorithm.clip_low", ""},
    {"verl", "actor_rollout_ref.actor.clip_ratio_high", "algorithm.clip_high", ""},
    {"verl", "actor_rollout_ref.actor.clip_ratio_c", "algorithm.dual_clip", ""},
    {"verl", "actor_rollout_ref.actor.use_kl_loss", "algorithm.kl_term", "for example \"loss\""},
    {"verl", "actor_rollout_ref.actor.kl_loss_coef", "algorithm.kl_beta", ""},
    {"verl", "algorithm.use_kl_in_reward", "algorithm.kl_term", "for example \"reward\""},
    {"verl", "algorithm.kl_ctrl.kl_coef", "algorithm.kl_beta", ""},
    {"verl", "actor_rollout_ref.actor.kl_loss_type", "algorithm.kl_estimator", ""},
    {"verl", "algorithm.kl_penalty", "algorithm.kl_estimator", ""},
    {"verl", "actor_rollout_ref.actor.entropy_coeff", "algorithm.entropy_beta", ""},
    {"verl", "algorithm.rollout_correction.rollout_is", "algorithm.mismatch", ""},
    {"verl", "algorithm.rollout_correction.rollout_is_threshold", "algorithm.mismatch_cap", ""},
    {"verl", "algorithm.rollout_correction.rollout_rs", "algorithm.mrs_low", "together with algorithm.mrs_high"},
    {"verl", "algorithm.rollout_correction.rollout_rs_threshold", "algorithm.mrs_high", "together with algorithm.mrs_low"},
    {"verl", "algorithm.filter_groups.enable", "algorithm.filter_groups", ""},
    {"verl", "algorithm.filter_groups.max_num_gen_batches", "algorithm.max_prompt_batches", ""},
    {"verl", "overlong_buffer_cfg.len", "algorithm.overlong_cache", ""},
    {"verl", "overlong_buffer_cfg.penalty_factor", "algorithm.overlong_weight", ""},
    {"verl", "actor_rollout_ref.actor.optim.lr", "optimizer.learning_rate", ""},
    {"verl", "actor_rollout_ref.actor.optim.lr_scheduler_type", "optimizer.schedule", ""},
    {"verl", "actor_rollout_ref.actor.optim.lr_warmup_steps", "optimizer.warmup_updates", "which counts updates"},
    {"verl", "actor_rollout_ref.actor.optim.betas", "optimizer.beta1", "together with optimizer.beta2"},
    {"verl", "actor_rollout_ref.actor.optim.weight_decay", "optimizer.weight_decay", ""},
    {"verl", "actor_rollout_ref.actor.optim.clip_grad", "optimizer.max_grad_norm", ""},
    {"verl", "actor_rollout_ref.model.enable_gradient_checkpointing", "model.recompute", "for example \"layers\""},
    {"verl", "actor_rollout_ref.rollout.dtype", "model.precision", ""},
    {"verl", "actor_rollout_ref.model.lora_rank", "lora.rank", ""},
    {"verl", "actor_rollout_ref.model.lora_alpha", "lora.alpha", ""},
    {"verl", "actor_rollout_ref.model.target_modules", "lora.targets", ""},
    {"verl", "actor_rollout_ref.actor.strategy", "model.masters", ""},
    {"verl", "trainer.default_local_dir", "run.dir", ""},
    {"verl", "trainer.total_training_steps", "run.steps", ""},
    {"verl", "trainer.total_epochs", "run.steps", "which counts steps"},
    {"verl", "actor_rollout_ref.actor.data_loader_seed", "run.seed", ""},
    {"verl", "actor_rollout_ref.rollout.seed", "run.seed", ""},
    {"verl", "trainer.save_freq", "checkpoint.every", ""},
    {"verl", "trainer.max_actor_ckpt_to_keep", "checkpoint.keep_last", ""},
    {"verl", "trainer.resume_mode", "", "the same command continues the run"},
    {"verl", "trainer.rollout_data_dir", "", "every sample is recorded in samples.jsonl"},
    {"verl", "trainer.logger", "", "a run always writes JSONL and TensorBoard"},
    {"verl", "trainer.test_freq", "data.heldout_every", ""},
    {"verl", "trainer.test_freq", "", "`tritonsmith eval` measures a checkpoint"},
    {"verl", "data.train_files", "data.examples", ""},
    {"verl", "data.val_files", "data.heldout", ""},
    {"verl", "data.max_length", "data.max_tokens", "and longer examples are left out"},
    {"verl", "data.use_dynamic_bsz", "", "examples are always packed"},
    {"verl", "data.max_token_len_per_gpu", "optimizer.micro_batch_tokens", ""},
};
// clang-format on

// Returns "lora_rank" for "actor_rollout_ref.model.lora_rank".
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// Tells whether the user's key is this foreign name.
bool is_meant(std::string_view wanted, const ForeignName& foreign) {
  constexpr std::string_view kSection = "actor_rollout_ref.";
  if (wanted == foreign.name) return true;
  if (foreign.name.starts_with(kSection) && wanted == foreign.name.substr(kSection.size()))
    return true;
  // A single word such as `beta` in one of our sections is rather a misspelling of our own name.
  const std::string_view last = last_part(foreign.name);
  return last.find('_') != std::string_view::npos && last_part(wanted) == last;
}

bool has_setting(const std::vector<std::string>& known, std::string_view ours) {
  return std::ranges::any_of(known, [&](const std::string& name) {
    return name == ours || name.starts_with(fmt::format("{}.", ours));
  });
}

std::string sentence(const ForeignName& foreign, std::string_view where) {
  if (foreign.ours.empty())
    return fmt::format("{}'s option has no counterpart here: {}", foreign.project, foreign.remark);
  return fmt::format("{}'s option is '{}' {}{}{}", foreign.project, foreign.ours, where,
                     foreign.remark.empty() ? "" : ", ", foreign.remark);
}

}  // namespace

std::span<const ForeignName> foreign_names() { return kForeignNames; }

std::string foreign_name_hint(std::string_view wanted, const std::vector<std::string>& known) {
  const ForeignName* elsewhere = nullptr;
  for (const ForeignName& foreign : kForeignNames) {
    if (!is_meant(wanted, foreign)) continue;
    if (foreign.ours.empty() || has_setting(known, foreign.ours)) return sentence(foreign, "here");
    elsewhere = &foreign;
  }
  if (elsewhere == nullptr) return "";
  // Only `sft` has the section "data".
  const bool is_of_sft = elsewhere->ours.starts_with("data.");
  return sentence(*elsewhere, is_of_sft ? "of `tritonsmith sft`" : "of `tritonsmith rl`");
}

}  // namespace tritonsmith::train
