// What the subcommands of training (sft, rl) share: their options, and how a call becomes a config.
// A call names a config file, or a run directory, which holds all that its run needs: its resolved
// config and its data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/config.h"
#include "cli/command.h"
#include "train/training_run.h"

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
  if (call.names_a_run()) config.run.dir = call.config;  // it may have been moved
  return config;
}

// The file to read the run's data from: `kept` in the run directory where the call names one, else
// the `given` of the config. Fails, naming the `setting`, where the config gives none.
Result<std::filesystem::path> data_file(const TrainingCall& call, const std::string& kept,
                                        const std::string& given, std::string_view setting);

// The resolved config on stdout; on stderr, what a call without --dry-run would do.
void print_preview(const Settings& settings, const train::RunSection& run,
                   const train::RunOutlook& outlook, const std::string& data);

// The model that a run ended with, if it kept one.
void print_model(const std::filesystem::path& checkpoint);

// How a run that was asked to stop ends: in an error that says how to go on.
tl::unexpected<Error> stopped_run(std::int64_t step, const train::RunSection& run,
                                  std::string_view command);
tl::unexpected<Error> stopped_for_good(std::int64_t step, const train::RunSection& run);
template <typename Config>
tl::unexpected<Error> stopped(std::int64_t step, const Config& config, std::string_view command) {
  return config.checkpoint.every > 0 ? stopped_run(step, config.run, command)
                                     : stopped_for_good(step, config.run);
}

}  // namespace tritonsmith::cli
