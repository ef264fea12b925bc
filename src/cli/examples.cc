// `tritonsmith examples import|export`: examples for supervised fine-tuning from and to the data sets of
// others.
#include "base/file.h"
#include "cli/call/command.h"
#include "cli/call/command_line.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/dataset_options.h"
#include "cli/setup/hub_names.h"
#include "datasets/export.h"
#include "datasets/json_rows.h"

namespace tritonsmith::cli {
namespace {

struct ExamplesOptions {
  DatasetOptions from;
  std::string file, out, licence;
  std::vector<std::string> settings;
  datasets::Turns turns = datasets::Turns::all;
  datasets::ExampleLayout layout = datasets::ExampleLayout::messages;
};

struct ImportConfig {
  text::PromptConfig prompt;
  static Fields<ImportConfig> fields() {
    Fields<ImportConfig> fields;
    append_section(fields, "prompt", &ImportConfig::prompt);
    return fields;
  }
};

Status import_examples(ExamplesOptions options) {
  TRY(find_dataset(options.from));
  ImportConfig config;
  TRY_ASSIGN(const Settings settings, settings_from_overrides(options.settings));
  TRY(apply_settings(config, settings, "--set"));
  datasets::ImportOptions how = import_options(options.from);
  how.examples = {.turns = options.turns, .prompt = config.prompt};
  TRY_ASSIGN(const auto out, datasets::write_json_rows(options.out));
  TRY_ASSIGN(const auto counts, datasets::import_examples(how, *out));
  TRY(out->finish());
  show_counts(counts, "examples", options.out);
  return ok();
}

Status export_examples(const ExamplesOptions& options) {
  const datasets::DatasetTarget target{
      .out = options.out, .split = options.from.split, .licence = options.licence};
  TRY_ASSIGN(const auto counts, datasets::export_examples(options.file, options.layout, target));
  show("{} rows: {}\n", counts.written, options.out);
  return ok();
}

void add_import(CLI::App& examples, const std::shared_ptr<ExamplesOptions>& options, Run& run) {
  CLI::App* command =
      examples.add_subcommand("import", "Write the rows of a data set as examples for `sft`");
  command
      ->add_option("PATH,--dataset", options->from.path,
                   "A .parquet, .jsonl or .json file, also packed (.gz, .zst); a folder in the "
                   "Hugging Face hub's layout; or OWNER/NAME on the hub")
      ->required();
  command->add_option("--out", options->out, "The JSONL to write")->required();
  command->add_option("--name", options->from.name,
                      "The data set's name in the examples (default: its own name)");
  add_dataset_options(*command, options->from);
  add_choice(*command, "--turns", options->turns,
             "Which answers of a conversation become examples, each with all messages before it");
  command->add_option("--set", options->settings, "KEY=VALUE, of:\n" + config_help<ImportConfig>());
  note_settings<ImportConfig>(*command);
  add_example(*command, "examples import drkernel-coldstart-8k --turns best --out examples.jsonl");
  add_example(*command,
              "examples import dataset_permissive.parquet --keep-going --out pairs.jsonl");
  add_example(*command,
              "examples import hkust-nlp/drkernel-coldstart-8k --turns best --out examples.jsonl");
  command->callback(
      [&run, options] { run = [options] { return finish(import_examples(*options)); }; });
}

void add_export(CLI::App& examples, const std::shared_ptr<ExamplesOptions>& options, Run& run) {
  CLI::App* command =
      examples.add_subcommand("export", "Write examples in the layout of another trainer");
  command->add_option("FILE", options->file, "JSONL of examples, as `sft` reads it")->required();
  command
      ->add_option("--out", options->out,
                   "A .parquet, .jsonl or .json, also packed (.gz, .zst), or a folder, which gets "
                   "the Hugging Face hub's layout")
      ->required();
  add_choice(*command, "--layout", options->layout, "The columns of the set");
  command
      ->add_option("--split", options->from.split, "The name of the split, if a folder is written")
      ->capture_default_str();
  command->add_option("--licence", options->licence,
                      "The licence that the README names, if a folder is written");
  add_example(*command,
              "examples export examples.jsonl --layout messages --out data/train.parquet");
  command->callback(
      [&run, options] { run = [options] { return finish(export_examples(*options)); }; });
}

void add_examples_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ExamplesOptions>();
  CLI::App* examples =
      app.add_subcommand("examples", "Import and export examples for supervised fine-tuning");
  examples->require_subcommand(1);
  add_example(*examples, "examples import answers.parquet --out examples.jsonl");
  add_example(*examples,
              "examples export examples.jsonl --layout messages --out data/train.parquet");
  add_import(*examples, options, run);
  add_export(*examples, options, run);
}

const Command examples_command(CommandGroup::tasks, "examples", add_examples_command);

}  // namespace
}  // namespace tritonsmith::cli
