// `tritonsmith score --model DIR --ids 1,2,3 | --text FILE`: prints the log-probability that a
// model gives each token after the tokens before it.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/setup/hub_names.h"
#include "cli/setup/prompted_writer.h"
#include "model/checkpoint/checkpoint.h"
#include "model/layers/linear_logprob.h"
#include "model/lora/lora.h"
#include "model/memory/device.h"
#include "text/tokenizer.h"

namespace tritonsmith::cli {
namespace {

struct ScoreOptions {
  std::string model;
  std::vector<TokenId> ids;
  std::string text_file;
  std::string adapter;
  Placement placement;
  bool json = false;
};

Result<std::vector<TokenId>> tokens_to_score(const ScoreOptions& options) {
  if (options.text_file.empty()) return options.ids;
  const std::filesystem::path directory = options.model;
  std::error_code ignored;
  if (!std::filesystem::exists(directory / "tokenizer.json", ignored))
    return fail("{} has no tokenizer.json; give token ids (--ids) in place of --text",
                options.model);
  TRY_ASSIGN(const auto tokenizer, text::Tokenizer::from_file(directory / "tokenizer.json"));
  TRY_ASSIGN(const std::string text, read_file(options.text_file));
  return tokenizer.framed(tokenizer.encode(text));
}

Status check_tokens(const std::vector<TokenId>& ids, const model::ModelConfig& config) {
  if (ids.empty()) return fail("there is no token to score: the text is empty");
  if (std::ssize(ids) > config.max_position_embeddings)
    return fail("{} tokens, but the model has only {} positions; score a shorter text", ids.size(),
                config.max_position_embeddings);
  for (const TokenId id : ids)
    if (id < 0 || id >= config.vocab_size)
      return fail("the model has no token {}; its ids are 0 to {}", id, config.vocab_size - 1);
  return ok();
}

// Returns [T]. The first token has no log-probability, because no token precedes it.
std::vector<float> logprobs_of(const model::Transformer& model, const std::vector<TokenId>& ids) {
  const at::NoGradGuard no_grad;
  const auto batch = model::pack(std::vector<std::vector<TokenId>>{ids}, model.device());
  const std::int64_t next = batch.length() - 1;
  const at::Tensor said =
      model::linear_logprob(model.forward(batch).narrow(0, 0, next), model.head_weight(),
                            batch.tokens.narrow(0, 1, next))
          .logprob.cpu()
          .contiguous();
  const float* values = said.const_data_ptr<float>();
  return {values, values + next};
}

Status score(ScoreOptions options) {
  TRY_ASSIGN(options.model, model_directory(options.model));
  if (!options.adapter.empty()) {
    TRY_ASSIGN(options.adapter, model_directory(options.adapter, hub::ModelPart::adapter));
  }
  TRY_ASSIGN(const c10::Device device, model::open_device(options.placement.device));
  TRY_ASSIGN(model::Transformer model, model::load_model(options.model, device));
  model.set_precision(options.placement.precision);
  if (!options.adapter.empty()) TRY(model::LoraAdapter::load(model, options.adapter));
  TRY_ASSIGN(const std::vector<TokenId> ids, tokens_to_score(options));
  TRY(check_tokens(ids, model.config()));
  const std::vector<float> logprobs = logprobs_of(model, ids);
  if (options.json) {
    Json values = {nullptr};
    for (const float each : logprobs) values.push_back(each);
    show("{}\n", to_line({{"ids", ids}, {"logprobs", values}}));
    return ok();
  }
  show("{:>8}  {:>10}\n{:>8}  {:>10}\n", "token", "logprob", ids.front(), "-");
  for (std::size_t i = 0; i < logprobs.size(); ++i)
    show("{:>8}  {:>10.5f}\n", ids[i + 1], logprobs[i]);
  return ok();
}

void add_score_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* command =
      app.add_subcommand("score", "Print the log-probability a model gives each token");
  command
      ->add_option("--model", options->model,
                   "A directory in Hugging Face's layout, or OWNER/NAME on the hub")
      ->required();
  command->add_option("--adapter", options->adapter, "A LoRA adapter in PEFT's layout");
  add_placement_options(*command, options->placement);
  auto* source = command->add_option_group("source");
  source->add_option("--ids", options->ids, "Token ids such as 1,2,3")->delimiter(',');
  source->add_option("--text", options->text_file, "A text file, for the model's tokenizer");
  source->require_option(1);
  command->add_flag("--json", options->json,
                    "Print one line of JSON: ids and logprobs (null first)");
  add_example(*command, "score --model runs/sft-small/checkpoints/step-1200 --ids 1,2,3 --json");
  command->callback([&run, options] { run = [options] { return finish(score(*options)); }; });
}

const Command score_command(CommandGroup::model, "score", add_score_command);

}  // namespace
}  // namespace tritonsmith::cli
