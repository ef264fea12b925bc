#include "cli/setup/prompted_writer.h"

#include "base/log.h"
#include "cli/setup/shared_gpu.h"
#include "model/config/generation_config.h"
#include "model/config/sums.h"
#include "text/checkpoint_chat.h"

namespace tritonsmith::cli {

void add_placement_options(CLI::App& command, Placement& placement) {
  add_choice(command, "--device", placement.device,
             "Where the model computes; auto: a GPU if one works");
  add_choice(command, "--precision", placement.precision, "The type that a GPU computes in");
}

Result<std::unique_ptr<ModelWriter>> ModelWriter::open(const std::filesystem::path& directory,
                                                       const Placement& placement,
                                                       const text::PromptConfig& prompt) {
  TRY_ASSIGN(const c10::Device where, model::open_device(placement.device));
  TRY_ASSIGN(model::Transformer model, model::load_model(directory, where));
  model.set_precision(placement.precision);
  model.set_sums(model::Sums::equal);  // so a seed draws the same tokens in every batch
  TRY_ASSIGN(text::Tokenizer tokenizer, text::Tokenizer::from_file(directory / "tokenizer.json"));
  if (tokenizer.id_limit() > static_cast<std::size_t>(model.config().vocab_size))
    return fail("{}: tokenizer.json has {} ids, but the model's vocabulary only {}",
                directory.string(), tokenizer.id_limit(), model.config().vocab_size);
  std::unique_ptr<ModelWriter> made(
      new ModelWriter(std::move(model), std::move(tokenizer), prompt));
  std::vector<text::Message> asked;
  if (!prompt.system.empty()) asked.push_back({text::Role::system, prompt.system});
  asked.push_back({text::Role::user, ""});
  TRY_ASSIGN(const auto opened, text::open_checkpoint_chat(directory, made->tokenizer_, asked));
  if (!opened.difference.empty()) LOG("{}", opened.difference);
  TRY_ASSIGN(const auto end_tokens, model::end_tokens(directory, made->model_.config()));
  TRY_ASSIGN(auto engine, make_leased_engine(made->model_, {}, lease_of_model(placement.device)));
  made->writer_ = std::make_unique<generate::TokenWriter>(
      std::move(engine), generate::ChatCodec(made->tokenizer_, opened.chat, end_tokens));
  return made;
}

ModelWriter::ModelWriter(model::Transformer model, text::Tokenizer tokenizer,
                         text::PromptConfig prompt)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), prompt_(std::move(prompt)) {}

eval::PromptedWriter ModelWriter::prompted_writer() {
  return {.writer = *writer_,
          .prompt = [this](const Task& task) { return text::prompt_for(task, prompt_); },
          .feedback = prompt_.style};
}

}  // namespace tritonsmith::cli
