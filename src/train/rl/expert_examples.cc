#include "train/rl/expert_examples.h"

#include <map>

#include "base/jsonl.h"
#include "data/sample.h"
#include "data/task.h"
#include "text/feedback.h"
#include "text/prompt.h"
#include "train/rl/rl_config.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;

// Returns the conversation that the turn at `index` answered. The turns before it lie right before
// it in `samples`.
std::vector<text::Message> prompt_of(std::span<const Sample> samples, std::size_t index,
                                     const Task& task, const text::PromptConfig& config) {
  std::vector<text::Message> messages = text::prompt_for(task, config);
  const auto turns = static_cast<std::size_t>(samples[index].turn);
  for (std::size_t i = index - turns; i < index; ++i) {
    messages.push_back({text::Role::assistant, samples[i].completion.text});
    messages.push_back({text::Role::user, text::feedback_text(samples[i].verdict, config.style)});
  }
  return messages;
}

bool is_usable(const Sample& sample, const RlConfig& config) {
  const bool is_whole = sample.completion.finish == FinishReason::stop;
  return is_whole && (sample.turn == 0 || config.turns.context == text::ContextRule::all);
}

}  // namespace

Result<std::vector<SftExample>> expert_examples(const fs::path& run_directory,
                                                const algorithm::ExpertOptions& options) {
  TRY_ASSIGN(const RlConfig config, load_config<RlConfig>(run_directory / "config.toml", {}));
  TRY_ASSIGN(const auto task_list, read_jsonl(run_directory / "tasks.jsonl", task_from_json));
  TRY_ASSIGN(const auto samples, read_jsonl(run_directory / "samples.jsonl", sample_from_json));
  std::map<std::string, const Task*> tasks;
  for (const Task& task : task_list) tasks[task.id] = &task;
  std::vector<algorithm::Trajectory> trajectories;
  for (const Sample& sample : samples) {
    if (!tasks.contains(sample.task_id))
      return fail("{}: task {} of a sample is not in tasks.jsonl", run_directory.string(),
                  sample.task_id);
    // An unusable sample still counts as an attempt.
    const bool succeeds = sample.verdict.accepted && is_usable(sample, config);
    trajectories.push_back({.task = sample.task_id,
                            .text = sample.completion.text,
                            .reward = succeeds ? sample.reward.total : options.reward - 1});
  }
  std::vector<SftExample> examples;
  for (const std::size_t i : algorithm::choose_experts(trajectories, options))
    examples.push_back(
        {.task_id = samples[i].task_id,
         .prompt = prompt_of(samples, i, *tasks.at(samples[i].task_id), config.prompt),
         .completion = samples[i].completion.text,
         .asked = text::PromptRecord{.prompt = config.prompt,
                                     .max_new_tokens = config.rollout.sampling.max_new_tokens}});
  if (examples.empty())
    return fail("{}: none of {} samples is a success of reward {} or more on a task not yet solved",
                run_directory.string(), samples.size(), options.reward);
  return examples;
}

}  // namespace tritonsmith::train
