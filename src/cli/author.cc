#include "cli/author.h"

namespace tritonsmith::cli {

Result<std::unique_ptr<ModelAuthor>> ModelAuthor::open(const std::filesystem::path& directory,
                                                       model::DeviceChoice device,
                                                       const text::PromptConfig& prompt) {
  TRY_ASSIGN(const c10::Device where, model::open_device(device));
  TRY_ASSIGN(model::Transformer model, model::load_model(directory, where));
  TRY_ASSIGN(text::Tokenizer tokenizer, text::Tokenizer::from_file(directory / "tokenizer.json"));
  if (tokenizer.id_limit() > static_cast<std::size_t>(model.config().vocab_size))
    return fail("{}: tokenizer.json has {} ids, but the model's vocabulary only {}",
                directory.string(), tokenizer.id_limit(), model.config().vocab_size);
  std::unique_ptr<ModelAuthor> author(
      new ModelAuthor(std::move(model), std::move(tokenizer), prompt));
  TRY_ASSIGN(author->chat_, text::ChatTemplate::make(author->tokenizer_));
  TRY_ASSIGN(author->engine_, rollout::make_generator(author->model_));
  return author;
}

ModelAuthor::ModelAuthor(model::Transformer model, text::Tokenizer tokenizer,
                         text::PromptConfig prompt)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), prompt_(std::move(prompt)) {}

eval::Author ModelAuthor::author() {
  return {.generator = *engine_,
          .tokenizer = tokenizer_,
          .chat = *chat_,
          .prompt = [this](const Task& task) { return prompt_tokens(task); },
          .feedback = prompt_.style,
          .positions = positions()};
}

std::vector<TokenId> ModelAuthor::prompt_tokens(const Task& task) const {
  return chat_->prompt_tokens(text::prompt_for(task, prompt_));
}

rollout::SamplingParams ModelAuthor::sampling(rollout::SamplingParams params) const {
  params.stop_tokens = {chat_->stop_token()};
  return params;
}

}  // namespace tritonsmith::cli
