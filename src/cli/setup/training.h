// Holds what the training subcommands (sft, rl) share: their options, and the way from a call to a
// config. A call names a config file or a run directory. A run directory holds all that its run
// needs: its resolved config and its data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/config.h"
#include "cli/call/command.h"
#include "cli/setup/hub_names.h"
#include "train/run/training_run.h"

namespace tritonsmith::cli {

struct TrainingCall {
  std::string config;
  std::vector<std::string> set;
  bool is_dry_run = false;

  bool names_a_run() const;
  std::filesystem::path config_file() const;
};

CLI::App* add_training_command(CLI::App& app, const std::string& name, const std::string& help,
                               const std::shared_ptr<TrainingCall>& call);

template <typename Config>
Result<Config> config_of(const TrainingCall& call) {
  TRY_ASSIGN(Config config, load_config<Config>(call.config_file(), call.set));
  if (call.names_a_run()) config.run.dir = call.config;  // the directory may have been moved
  return config;
}

// Puts the directories of models in place of their names on the hub, and fetches the models. So
// the run's record names their commits. A dry run asks no hub: it returns what a call would fetch,
// and leaves the names of these models as they are.
Result<std::vector<std::string>> find_models(const TrainingCall& call,
                                             const std::vector<std::string*>& paths);

// Returns the file with the run's data. If the call names a run directory, that is `kept` in it,
// else the config's `given`. If the config gives none, the error names `setting`.
Result<std::filesystem::path> data_file(const TrainingCall& call, const std::string& kept,
                                        const std::string& given, std::string_view setting);

// Prints the resolved config on stdout. On stderr it says what a call without --dry-run would do.
void print_preview(const Settings& settings, const train::RunSection& run,
                   const train::RunOutlook& outlook, const std::string& data);

// The same where the cache lacks the models that a call would fetch. Without them nothing more can
// be checked.
void print_preview_without_models(const Settings& settings, const train::RunSection& run,
                                  const std::vector<std::string>& fetched, const std::string& data);

// Prints the directory of the run's final model, if the run kept one.
void print_model(const std::filesystem::path& checkpoint);

// Returns the error for a run that was asked to stop. It says how to resume.
tl::unexpected<Error> stopped_run(std::int64_t step, const train::RunSection& run,
                                  std::string_view command);
tl::unexpected<Error> stopped_for_good(std::int64_t step, const train::RunSection& run);
template <typename Config>
tl::unexpected<Error> stopped(std::int64_t step, const Config& config, std::string_view command) {
  return config.checkpoint.every > 0 ? stopped_run(step, config.run, command)
                                     : stopped_for_good(step, config.run);
}

}  // namespace tritonsmith::cli
