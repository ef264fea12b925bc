#include "cli/setup/training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.h"
#include "cli/call/output.h"

namespace tritonsmith::cli {

namespace fs = std::filesystem;

bool TrainingCall::names_a_run() const {
  std::error_code ignored;
  return fs::is_directory(config, ignored);
}

fs::path TrainingCall::config_file() const {
  return names_a_run() ? fs::path(config) / "config.toml" : fs::path(config);
}

CLI::App* add_training_command(CLI::App& app, const std::string& name, const std::string& help,
                               const std::shared_ptr<TrainingCall>& call) {
  CLI::App* command = app.add_subcommand(name, help);
  command
      ->add_option("CONFIG", call->config,
                   "A config file (TOML), or the directory of a run to continue")
      ->required();
  command->add_option("--set", call->set,
                      "A setting as key=value in place of the config's (repeatable)");
  command->add_flag("--dry-run", call->is_dry_run,
                    "Print the resolved config and check everything; start nothing");
  return command;
}

Result<fs::path> data_file(const TrainingCall& call, const std::string& kept,
                           const std::string& given, std::string_view setting) {
  std::error_code ignored;
  if (call.names_a_run() && fs::exists(fs::path(call.config) / kept, ignored))
    return fs::path(call.config) / kept;
  if (given.empty()) return fail("{}: {} is not set", call.config_file().string(), setting);
  return fs::path(given);
}

void print_preview(const Settings& settings, const train::RunSection& run,
                   const train::RunOutlook& outlook, const std::string& data) {
  show_text(toml_from_settings(settings));
  std::string sentence = fmt::format("would begin a run of {} steps in {} with {}", run.steps,
                                     run.dir, outlook.model.string());
  if (outlook.step)
    sentence =
        fmt::format("would go on after step {} of {} in {}", *outlook.step, run.steps, run.dir);
  if (outlook.step == run.steps)
    sentence = fmt::format("the run in {} is finished ({} steps)", run.dir, run.steps);
  LOG("dry run: {}; {}; nothing was started", sentence, data);
}

Result<std::vector<std::string>> find_models(const TrainingCall& call,
                                             const std::vector<std::string*>& paths) {
  std::vector<std::string> fetched;
  for (std::string* path : paths) {
    if (!call.is_dry_run) {
      TRY_ASSIGN(*path, model_directory(*path));
      continue;
    }
    TRY_ASSIGN(const UnaskedModel model, unasked_model_directory(*path));
    if (model.fetched.empty())
      *path = model.directory;
    else
      fetched.push_back(model.fetched);
  }
  return fetched;
}

void print_preview_without_models(const Settings& settings, const train::RunSection& run,
                                  const std::vector<std::string>& fetched,
                                  const std::string& data) {
  show_text(toml_from_settings(settings));
  LOG("dry run: would fetch {}, because there is no such folder here, and then begin or continue a "
      "run of {} steps in {}; {}; the model was not checked; nothing was started",
      fmt::join(fetched, " and "), run.steps, run.dir, data);
}

void print_model(const fs::path& checkpoint) {
  if (!checkpoint.empty()) show("model: {}\n", checkpoint.string());
}

tl::unexpected<Error> stopped_for_good(std::int64_t step, const train::RunSection& run) {
  return fail_by_fault(
      "stopped after step {} of {}; without checkpoints (checkpoint.every = 0) it begins "
      "anew when called again",
      step, run.steps);
}

tl::unexpected<Error> stopped_run(std::int64_t step, const train::RunSection& run,
                                  std::string_view command) {
  return fail_by_fault("stopped after step {} of {}; `tritonsmith {} {}` goes on from there", step,
                       run.steps, command, run.dir);
}

}  // namespace tritonsmith::cli
