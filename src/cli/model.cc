// `tritonsmith model make`: a model from scratch, for `sft` to begin with.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/new_model.h"

namespace tritonsmith::cli {
namespace {

struct Options {
  std::string examples, out;
  std::vector<std::string> set;
};

Status make_model(const Options& options) {
  NewModelConfig config;
  TRY_ASSIGN(const Settings settings, settings_from_overrides(options.set));
  TRY(apply_settings(config, settings, "--set"));
  TRY_ASSIGN(const auto examples, train::read_sft_examples(options.examples));
  TRY(make_new_model(options.out, config, examples));
  fmt::print("model: {}\n", options.out);
  return ok();
}

}  // namespace

void add_model_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* model = app.add_subcommand("model", "Make a model to begin with");
  model->require_subcommand(1);
  CLI::App* make = model->add_subcommand(
      "make", "Write an untrained model with a tokenizer learnt from examples");
  make->add_option("--examples", options->examples, "JSONL, as `tasks teach` writes it")
      ->required();
  make->add_option("--out", options->out, "The directory to write")->required();
  make->add_option("--set", options->set, "key=value (repeatable)");
  make->footer([] { return "settings:\n" + config_help<NewModelConfig>(); });
  make->callback([&run, options] { run = [options] { return finish(make_model(*options)); }; });
}

}  // namespace tritonsmith::cli
