#include "train/rl/rl.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/log.h"
#include "model/checkpoint/checkpoint.h"
#include "model/config/generation_config.h"
#include "text/chat.h"
#include "text/prompt_record.h"
#include "train/experience/references.h"
#include "train/rl/rl_loop.h"

namespace tritonsmith::train {
namespace {

// The prompts of a run, and what makes them.
struct Prompting {
  std::unique_ptr<const text::Tokenizer> tokenizer;  // the codec refers to it, so it must not move
  generate::ChatCodec codec;
  std::vector<Prompted> prompts;  // for every task that leaves space for a completion
};

// `model`: the directory that the run begins with.
Result<Prompting> prompting_for(const RlConfig& config, const std::filesystem::path& model,
                                std::span<const Task> tasks) {
  const int room = config.rollout.sampling.max_new_tokens;
  if (tasks.empty()) return fail("there are no tasks to train on");
  TRY_ASSIGN(auto read, text::Tokenizer::from_file(model / "tokenizer.json"));
  auto tokenizer = std::make_unique<const text::Tokenizer>(std::move(read));
  TRY_ASSIGN(const auto chat, open_chat(config.model, model, *tokenizer,
                                        text::prompt_for(tasks.front(), config.prompt)));
  TRY(check_model_fits(model, tokenizer->id_limit(), room, "rollout.max_new_tokens"));
  TRY_ASSIGN(const auto shape, model::read_model_config(model / "config.json"));
  std::vector<Prompted> prompts;
  std::int64_t longest = 0;
  for (const Task& task : tasks) {
    if (task.split == TaskSplit::heldout)
      return fail("task {} is held out for evaluation and must not be trained on", task.id);
    Prompted prompted{.task = &task, .messages = text::prompt_for(task, config.prompt)};
    const std::int64_t length = std::ssize(chat.prompt_tokens(prompted.messages)) + room;
    if (length > shape.max_position_embeddings) continue;
    longest = std::max(longest, length);
    prompts.push_back(std::move(prompted));
  }
  if (config.turns.limit > 1) longest = shape.max_position_embeddings;
  if (prompts.empty())
    return fail(
        "none of the {} tasks leaves room for rollout.max_new_tokens = {} in the model's "
        "{} positions",
        tasks.size(), room, shape.max_position_embeddings);
  if (prompts.size() < tasks.size())
    LOG("{} of {} tasks have prompts too long for this model and are left out",
        tasks.size() - prompts.size(), tasks.size());
  TRY_ASSIGN(const auto end_tokens, model::end_tokens(model, shape));
  generate::ChatCodec codec(*tokenizer, chat, end_tokens);
  TRY(check_teacher(config.teacher, {.tokenizer = *tokenizer, .longest = longest}));
  return Prompting{
      .tokenizer = std::move(tokenizer), .codec = std::move(codec), .prompts = std::move(prompts)};
}

std::string to_jsonl(std::span<const Task> tasks) {
  std::string text;
  for (const Task& task : tasks) text += to_line(to_json(task)) + '\n';
  return text;
}

// Loads the model that the run began with, if the KL term needs it.
Result<std::optional<model::Transformer>> load_reference(const RlConfig& config,
                                                         c10::Device device) {
  if (config.algorithm.kl_beta <= 0) return std::optional<model::Transformer>();
  TRY_ASSIGN(const model::Transformer first,
             model::load_model(first_model(config.run, config.model), device));
  return std::optional(first.frozen_copy());
}

TrainingRunOptions run_options(const RlConfig& config,
                               distributed::Ranks& ranks = distributed::nobody_else(),
                               const std::string& program = {}) {
  return {.command = "rl",
          .settings = settings_of(config),
          .run = config.run,
          .model = config.model,
          .lora = config.lora,
          .checkpoint = config.checkpoint,
          .companions = {{text::kPromptRecordFile,
                          to_text(text::PromptRecord{
                              .prompt = config.prompt,
                              .max_new_tokens = config.rollout.sampling.max_new_tokens})}},
          .ranks = &ranks,
          .program = program};
}

}  // namespace

Result<RlPreview> preview_rl(const RlConfig& config, std::span<const Task> tasks) {
  TRY(check(config));
  RlPreview preview;
  TRY_ASSIGN(preview.run, TrainingRun::outlook(run_options(config)));
  TRY_ASSIGN(const auto prompting, prompting_for(config, preview.run.model, tasks));
  preview.tasks = prompting.prompts.size();
  return preview;
}

Result<RlSummary> run_rl(const RlConfig& config, std::span<const Task> tasks, const RlParts& parts,
                         const StopFlag& stop) {
  TRY(check(config));
  if (config.rollout.staleness > 0 && !parts.ranks.is_alone())
    return fail(
        "rollout.staleness = {} goes with one process: several ranks exchange samples and "
        "gradients "
        "in one order, and cannot do both at once",
        config.rollout.staleness);
  if (config.rollout.learn_early && !parts.ranks.is_alone())
    return fail(
        "rollout.learn_early goes with one process: several ranks know a group's samples only once "
        "all have exchanged theirs");
  // The run must be open before the program knows with which model the run begins.
  TRY_ASSIGN(TrainingRun run, TrainingRun::open(run_options(config, parts.ranks, parts.program)));
  TRY_ASSIGN(auto prompting, prompting_for(config, first_model(config.run, config.model), tasks));
  TRY(run.keep_data("tasks.jsonl", to_jsonl(tasks)));
  if (!parts.references.empty())
    TRY(run.keep_data("references.jsonl", references_to_jsonl(parts.references)));
  RlModels models;
  TRY_ASSIGN(models.reference, load_reference(config, run.learner().model().device()));
  TRY_ASSIGN(models.teacher,
             load_teacher(config.teacher, config.model, run.learner().model().device()));
  const model::Transformer* sampled = &run.learner().model();
  if (config.rollout.staleness > 0) {
    models.behaviour = std::make_unique<model::Transformer>(sampled->frozen_copy());
    sampled = models.behaviour.get();
  }
  TRY_ASSIGN(auto engine, parts.make_engine(*sampled));
  models.writer =
      std::make_unique<generate::TokenWriter>(std::move(engine), std::move(prompting.codec));
  run.expect_checkpoint();  // the engine has allocated its GPU memory by now
  RlLoop loop({.config = config, .parts = parts, .prompts = std::move(prompting.prompts)}, run,
              std::move(models));
  return loop.run(stop);
}

}  // namespace tritonsmith::train
