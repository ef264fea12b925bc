#include "train/sft/sft_examples.h"

#include "base/jsonl.h"

namespace tritonsmith::train {
namespace {

Result<std::vector<text::Message>> prompt_from_json(const Json& json) {
  if (json.is_string())
    return std::vector<text::Message>{
        {.role = text::Role::user, .content = json.get<std::string>()}};
  if (!json.is_array() || json.empty()) return fail("'prompt' must be text or a list of messages");
  std::vector<text::Message> messages;
  for (const Json& each : json) {
    JsonReader reader(each);
    messages.push_back(
        {.role = reader.enumerated<text::Role>("role"), .content = reader.string("content")});
    TRY_WITHIN("'prompt'", reader.status());
  }
  return messages;
}

}  // namespace

Json to_json(const SftExample& example) {
  Json prompt = Json::array();
  for (const text::Message& message : example.prompt)
    prompt.push_back({{"role", name_of(message.role)}, {"content", message.content}});
  Json json = {{"task", example.task_id}, {"prompt", prompt}, {"completion", example.completion}};
  if (example.asked) json["asked"] = to_json(*example.asked);
  return json;
}

Result<SftExample> sft_example_from_json(const Json& json) {
  JsonReader reader(json);
  SftExample example{.task_id = reader.string("task", ""),
                     .prompt = {},
                     .completion = reader.string("completion")};
  TRY(reader.status());
  if (!json.contains("prompt")) return fail("'prompt' is missing");
  TRY_ASSIGN(example.prompt, prompt_from_json(json["prompt"]));
  if (reader.has("asked")) {
    TRY_ASSIGN(example.asked, text::prompt_record_from_json(json["asked"], "'asked'"));
  }
  return example;
}

Result<std::vector<SftExample>> read_sft_examples(const std::filesystem::path& file) {
  TRY_ASSIGN(auto examples, read_jsonl(file, sft_example_from_json));
  if (examples.empty()) return fail("{} has no examples", file.string());
  return examples;
}

std::string sft_examples_to_jsonl(std::span<const SftExample> examples) {
  std::string text;
  for (const SftExample& example : examples) text += to_line(to_json(example)) + '\n';
  return text;
}

std::optional<text::PromptRecord> asked_alike(std::span<const SftExample> examples) {
  std::optional<text::PromptRecord> common;
  for (const SftExample& example : examples) {
    if (!example.asked) continue;
    if (common && *common != *example.asked) return std::nullopt;
    common = example.asked;
  }
  return common;
}

std::vector<TrainingSequence> encode_examples(std::span<const SftExample> examples,
                                              const text::Tokenizer& tokenizer,
                                              const text::ChatTemplate& chat,
                                              std::int64_t max_tokens) {
  std::vector<TrainingSequence> sequences;
  for (const SftExample& example : examples) {
    TrainingSequence sequence{.tokens = chat.prompt_tokens(example.prompt)};
    sequence.prompt_length = sequence.tokens.size();
    const auto completion = tokenizer.encode(example.completion, text::SpecialText::plain);
    sequence.tokens.insert(sequence.tokens.end(), completion.begin(), completion.end());
    sequence.tokens.push_back(chat.stop_token());
    if (static_cast<std::int64_t>(sequence.tokens.size()) <= max_tokens)
      sequences.push_back(std::move(sequence));
  }
  return sequences;
}

}  // namespace tritonsmith::train
