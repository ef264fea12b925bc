// `tritonsmith model make` makes an untrained model for `sft`. `tritonsmith model merge` adds a
// LoRA adapter's changes to a model's weights. `tritonsmith model export` writes a model in 16 bits
// and several files, the usual form for publishing.
#include <fmt/format.h>

#include <filesystem>

#include "cli/call/command.h"
#include "cli/call/command_line.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/setup/hub_names.h"
#include "cli/setup/new_model.h"
#include "model/checkpoint/checkpoint.h"
#include "model/checkpoint/export_model.h"
#include "model/lora/lora.h"

namespace tritonsmith::cli {
namespace {

struct ModelOptions {
  std::string examples, out;
  std::vector<std::string> set;
};

Status make_model(const ModelOptions& options) {
  NewModelConfig config;
  TRY_ASSIGN(const Settings settings, settings_from_overrides(options.set));
  TRY(apply_settings(config, settings, "--set"));
  TRY_ASSIGN(const auto examples, train::read_sft_examples(options.examples));
  TRY(make_new_model(options.out, config, examples));
  show("model: {}\n", options.out);
  return ok();
}

struct MergeOptions {
  std::string model, adapter, out;
};

// Writing into the model's own directory would lose the model.
Status refuse_same_directory(const std::string& out, const std::string& model) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(out, model, ignored)) return ok();
  return fail("--out {} is the model itself; name another directory", out);
}

Status merge_adapter(MergeOptions options) {
  TRY_ASSIGN(options.model, model_directory(options.model));
  TRY(refuse_same_directory(options.out, options.model));
  TRY_ASSIGN(options.adapter, model_directory(options.adapter, hub::ModelPart::adapter));
  TRY_ASSIGN(const model::Transformer model, model::load_model(options.model));
  TRY(model::LoraAdapter::load(model, options.adapter));
  TRY(model::save_model(model, options.out));
  TRY(model::copy_companions(options.model, options.out));
  show("model: {}\n", options.out);
  return ok();
}

void add_merge_command(CLI::App& parent, Run& run) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* merge = parent.add_subcommand("merge", "Write a model with an adapter's changes in it");
  merge
      ->add_option("--model", options->model,
                   "The model that the adapter was trained on, also as OWNER/NAME on the hub")
      ->required();
  merge->add_option("--adapter", options->adapter, "A LoRA adapter in PEFT's layout")->required();
  merge->add_option("--out", options->out, "The directory to write")->required();
  add_example(
      *merge,
      "model merge --model qwen --adapter runs/sft/checkpoints/step-100/adapter --out merged");
  merge->callback([&run, options] { run = [options] { return finish(merge_adapter(*options)); }; });
}

struct ExportOptions {
  std::string model, out;
  model::WeightType type = model::WeightType::bfloat16;
  double file_gb = 5;
};

Status export_model(ExportOptions options) {
  TRY_ASSIGN(options.model, model_directory(options.model));
  TRY_ASSIGN(const model::Transformer model, model::load_model(options.model));
  TRY(model::export_model(
      model, options.out,
      {.type = options.type, .file_bytes = static_cast<std::int64_t>(options.file_gb * 1e9)}));
  TRY(model::copy_companions(options.model, options.out));
  show("model: {}\n", options.out);
  return ok();
}

void add_export_command(CLI::App& parent, Run& run) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = parent.add_subcommand(
      "export", "Write a model in a smaller type, and in several files with an index");
  command
      ->add_option("--model", options->model,
                   "A model, also as OWNER/NAME on the hub, or a run's checkpoint")
      ->required();
  command->add_option("--out", options->out, "The directory to write")->required();
  add_choice(*command, "--type", options->type, "The type that weights are rounded to");
  command
      ->add_option(
          "--file-gb", options->file_gb,
          "A file holds weights of at most this many GB; a larger tensor gets a file of its own")
      ->check(CLI::PositiveNumber);
  add_example(*command, "model export --model runs/rl/checkpoints/step-120 --out exported");
  command->callback(
      [&run, options] { run = [options] { return finish(export_model(*options)); }; });
}

void add_model_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* model = app.add_subcommand(
      "model", "Make an untrained model, merge an adapter into a model, or export a model");
  model->require_subcommand(1);
  add_example(*model, "model make --examples data/examples.jsonl --out data/start");
  CLI::App* make = model->add_subcommand(
      "make", "Write an untrained model with a tokenizer learnt from examples");
  make->add_option("--examples", options->examples,
                   "A JSONL of examples, as `tasks teach` writes it")
      ->required();
  make->add_option("--out", options->out, "The directory to write")->required();
  make->add_option("--set", options->set, "A setting as key=value (repeatable)");
  note_settings<NewModelConfig>(*make);
  add_example(*make, "model make --examples data/examples.jsonl --out data/start");
  make->footer([] { return "settings:\n" + config_help<NewModelConfig>(); });
  make->callback([&run, options] { run = [options] { return finish(make_model(*options)); }; });
  add_merge_command(*model, run);
  add_export_command(*model, run);
}

const Command model_command(CommandGroup::tasks, "model", add_model_command);

}  // namespace
}  // namespace tritonsmith::cli
