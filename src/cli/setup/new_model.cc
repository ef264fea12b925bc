#include "cli/setup/new_model.h"

#include <algorithm>

#include "base/file.h"
#include "model/checkpoint/checkpoint.h"
#include "model/weights/random_weights.h"
#include "text/checkpoint_chat.h"
#include "text/tokenizer.h"

namespace tritonsmith::cli {
namespace {

constexpr const char* kPadding = "<|endoftext|>";
constexpr const char* kEnd = "<|im_end|>";

// Returns ChatML's special words. Each is one token.
std::vector<text::AddedToken> chat_tokens() {
  std::vector<text::AddedToken> tokens;
  for (const char* content : {kPadding, "<|im_start|>", kEnd})
    tokens.push_back({.content = content, .special = true});
  return tokens;
}

// Writes the files that tell other programs how to generate with the model.
Status save_companions(const std::filesystem::path& directory, const text::Tokenizer& tokenizer,
                       const std::optional<text::PromptRecord>& prompt) {
  if (prompt) TRY(write_file_atomic(directory / text::kPromptRecordFile, to_text(*prompt)));
  TRY(tokenizer.save(directory / "tokenizer.json"));
  TRY(text::save_chat_files(directory));
  const Json generation = {{"eos_token_id", *tokenizer.id_of(kEnd)},
                           {"pad_token_id", *tokenizer.id_of(kPadding)}};
  return write_file_atomic(directory / "generation_config.json", generation.dump(2) + "\n");
}

}  // namespace

Fields<NewModelConfig> NewModelConfig::fields() {
  using C = NewModelConfig;
  Fields<C> fields = {
      field("seed", &C::seed, "The random weights follow from this seed."),
      field("vocabulary", &C::vocabulary,
            "How many tokens the tokenizer has. It is trained on the examples.",
            between(300, 1 << 20)),
      field("pieces", &C::pieces,
            "The longest text that one token may span: qwen2, llama3 and gpt2 split words as the "
            "published models do; lines, phrases (parts of a line) or whole."),
      field("vocab_size", &C::vocab_size,
            "The number of rows of the embedding, if it has more rows than there are tokens. 0: "
            "one row for each token.",
            at_least<std::int64_t>(0)),
      field("type", &C::type,
            "The type in which the weights are written: float32, bfloat16 or float16.")};
  for (auto& inner : model::ModelConfig::fields())
    if (inner.name != "vocab_size")
      fields.push_back({.name = inner.name,
                        .help = inner.help,
                        .set = [set = inner.set](
                                   C& config, const Json& json) { return set(config.shape, json); },
                        .get = [get = inner.get](const C& config) { return get(config.shape); }});
  return fields;
}

Status make_new_model(const std::filesystem::path& directory, const NewModelConfig& config,
                      std::span<const train::SftExample> examples) {
  std::error_code ignored;
  if (std::filesystem::exists(directory / "config.json", ignored))
    return fail("{} holds a model already; name another directory", directory.string());
  std::vector<std::string> corpus;
  for (const train::SftExample& example : examples) {
    for (const text::Message& message : example.prompt) corpus.push_back(message.content);
    corpus.push_back(example.completion);
  }
  TRY_ASSIGN(const auto tokenizer,
             text::Tokenizer::train(corpus, {.vocabulary_size = config.vocabulary,
                                             .added_tokens = chat_tokens(),
                                             .pieces = config.pieces}));
  model::ModelConfig shape = config.shape;
  shape.vocab_size = static_cast<std::int64_t>(tokenizer.id_limit());
  if (config.vocab_size > 0 && config.vocab_size < shape.vocab_size)
    return fail("vocab_size is {}, but the tokenizer has {} tokens", config.vocab_size,
                shape.vocab_size);
  shape.vocab_size = std::max(shape.vocab_size, config.vocab_size);
  shape.eos_token_id = *tokenizer.id_of(kEnd);
  TRY(model::check(shape));
  TRY(make_directories(directory));
  TRY(save_companions(directory, tokenizer,
                      config.prompt ? config.prompt : train::asked_alike(examples)));
  const model::Transformer model(shape, c10::kCPU, model::scalar_type_of(config.type));
  model::fill_random_weights(model.parameters(), shape.initializer_range, config.seed);
  return model::export_model(model, directory, {.type = config.type});
}

}  // namespace tritonsmith::cli
