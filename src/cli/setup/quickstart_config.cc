#include "cli/setup/quickstart_config.h"

namespace tritonsmith::cli {
namespace {

train::SftConfig sft_defaults(std::uint64_t seed) {
  train::SftConfig sft;
  sft.run.seed = seed;
  sft.run.steps = 1200;
  sft.data.step_tokens = 1536;
  sft.data.max_tokens = 512;
  sft.optimizer.learning_rate = 3e-3;
  sft.optimizer.warmup_updates = 50;
  sft.checkpoint.every = 250;
  return sft;
}

train::RlConfig rl_defaults(std::uint64_t seed) {
  train::RlConfig rl;
  rl.run.seed = seed;
  rl.run.steps = 120;
  rl.prompt.style = text::PromptStyle::compact;
  rl.rollout.prompts = 8;
  rl.rollout.samples = 8;
  rl.rollout.sampling.max_new_tokens = 320;
  // Higher rates undo what the warm-up taught; 1e-3 undoes all of it. Without the decay, the noise
  // of small batches costs greedy accuracy.
  rl.optimizer.learning_rate = 2e-4;
  rl.optimizer.schedule = train::ScheduleShape::linear;
  rl.optimizer.final_ratio = 0.05;
  rl.optimizer.warmup_updates = 3;
  rl.optimizer.weight_decay = 0;
  rl.checkpoint.every = 10;
  return rl;
}

}  // namespace

QuickstartConfig QuickstartConfig::with_seed(std::uint64_t seed) {
  QuickstartConfig config;
  config.seed = seed;
  config.curriculum = curriculum::quickstart_options(seed);
  config.teacher.seed = seed;
  config.teacher.styles = {"compact"};
  config.teacher.per_task = 1;
  // Half of the kernels are only nearly right, as in a set distilled from another model. The gym
  // must find these.
  config.teacher.mistakes = 0.5;
  config.sft = sft_defaults(seed);
  config.rl = rl_defaults(seed);
  return config;
}

Fields<QuickstartConfig> QuickstartConfig::fields() {
  Fields<QuickstartConfig> all = {
      field("vocabulary", &QuickstartConfig::vocabulary,
            "How many tokens the tokenizer has. It is trained on the teacher's solutions.",
            at_least(300)),
      field("heldout", &QuickstartConfig::heldout,
            "On how many held-out tasks the model is evaluated.", at_least(1)),
      field("samples", &QuickstartConfig::samples,
            "How many completions are sampled for each held-out task.", at_least(1)),
      field("trials", &QuickstartConfig::trials, "On how many inputs each kernel is tried.",
            at_least(1))};
  append_section(all, "curriculum", &QuickstartConfig::curriculum);
  append_section(all, "teacher", &QuickstartConfig::teacher);
  append_section(all, "model", &QuickstartConfig::model);
  append_section(all, "sft", &QuickstartConfig::sft);
  append_section(all, "rl", &QuickstartConfig::rl);
  return all;
}

}  // namespace tritonsmith::cli
