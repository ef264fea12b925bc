// `tritonsmith tasks from-run RUN_DIR --out FILE`: turns the successes of a finished rl run into
// examples for sft, for the next round of RLoop (docs/algorithms.md).
#include "cli/tasks/from_run.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "train/rl/expert_examples.h"

namespace tritonsmith::cli {
namespace {

struct FromRunOptions {
  std::string run, out;
  algorithm::ExpertOptions experts;
};

Status write_examples(const FromRunOptions& options) {
  TRY_ASSIGN(const auto examples, train::expert_examples(options.run, options.experts));
  TRY(write_file_atomic(options.out, train::sft_examples_to_jsonl(examples)));
  show("{} examples: {}\n", examples.size(), options.out);
  return ok();
}

}  // namespace

void add_from_run_command(CLI::App& tasks, Run& run) {
  auto options = std::make_shared<FromRunOptions>();
  algorithm::ExpertOptions& experts = options->experts;
  CLI::App* command =
      tasks.add_subcommand("from-run", "Write the successes of an rl run as examples for `sft`");
  command->add_option("RUN_DIR", options->run, "A run directory of rl")->required();
  command->add_option("--out", options->out, "The JSONL of examples to write")->required();
  command->add_option("--reward", experts.reward,
                      "A success is a sample with at least this reward");
  command->add_option("--solved", experts.solved,
                      "Tasks with a larger share of successes are left out");
  command
      ->add_option("--per-task", experts.per_task,
                   "The most successes that are written of one task")
      ->check(CLI::Range(1, 1000000));
  add_example(*command, "tasks from-run runs/rl-small --out data/successes.jsonl");
  command->callback(
      [&run, options] { run = [options] { return finish(write_examples(*options)); }; });
}

}  // namespace tritonsmith::cli
