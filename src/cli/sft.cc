// `tritonsmith sft CONFIG.toml | RUN_DIR`: runs supervised fine-tuning on examples in the format of
// `tasks teach`. docs/settings.md lists the config.
#include "train/sft/sft.h"

#include <fmt/format.h>

#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/version.h"
#include "cli/setup/ranks.h"
#include "cli/setup/training.h"

namespace tritonsmith::cli {
namespace {

using train::SftConfig;

Status preview(const SftConfig& config, const train::SftMaterial& material,
               const std::vector<std::string>& fetched) {
  if (!fetched.empty()) {
    print_preview_without_models(settings_of(config), config.run, fetched,
                                 fmt::format("{} examples", material.examples.size()));
    return ok();
  }
  TRY_ASSIGN(const auto found, train::preview_sft(config, material));
  print_preview(settings_of(config), config.run, found.run,
                fmt::format("{} of {} examples, {} tokens", found.sequences,
                            material.examples.size(), found.tokens));
  return ok();
}

Result<std::vector<train::SftExample>> heldout_examples(const TrainingCall& call,
                                                        const SftConfig& config) {
  if (config.data.heldout.empty()) return std::vector<train::SftExample>();
  TRY_ASSIGN(const auto file,
             data_file(call, "heldout.jsonl", config.data.heldout, "data.heldout"));
  return train::read_sft_examples(file);
}

Status train_supervised(const TrainingCall& call, distributed::Ranks& ranks) {
  TRY_ASSIGN(SftConfig config, config_of<SftConfig>(call));
  TRY_ASSIGN(const auto fetched, find_models(call, {&config.model.path}));
  TRY(train::check(config,
                   fetched.empty() ? train::ModelLocation::here : train::ModelLocation::on_hub));
  TRY_ASSIGN(const auto file,
             data_file(call, "examples.jsonl", config.data.examples, "data.examples"));
  TRY_ASSIGN(const auto examples, train::read_sft_examples(file));
  TRY_ASSIGN(const auto heldout, heldout_examples(call, config));
  const train::SftMaterial material{
      .examples = examples, .heldout = heldout, .program = program_name()};
  if (call.is_dry_run) return ranks.is_first() ? preview(config, material, fetched) : ok();
  LOG("sft: {} examples from {}", examples.size(), file.string());
  train::StopFlag stop = false;
  const train::StopSignals signals(stop);
  TRY_ASSIGN(const auto summary, train::run_sft(config, material, stop, ranks));
  if (!summary.is_finished) return stopped(summary.steps, config, "sft");
  if (!ranks.is_first()) return ok();
  show("{} steps, loss {:.3f}\n", summary.steps, summary.loss);
  print_model(summary.checkpoint);
  return ok();
}

void add_sft_command(CLI::App& app, Run& run) {
  auto call = std::make_shared<TrainingCall>();
  CLI::App* command = add_training_command(app, "sft", "Train a model on examples", call);
  add_example(*command, "sft configs/sft-small.toml --set run.steps=100");
  add_example(*command, "sft runs/sft-small");
  command->footer([] { return "settings:\n" + config_help<SftConfig>(); });
  command->callback([&run, call] {
    run = [call] {
      return finish(with_ranks([&](distributed::Ranks& ranks, const distributed::LaunchInfo&) {
        return train_supervised(*call, ranks);
      }));
    };
  });
}

const Command sft_command(CommandGroup::train, "sft", add_sft_command);

}  // namespace
}  // namespace tritonsmith::cli
