// Examples of supervised fine-tuning: conversations with the completion to learn, as JSONL, one a
// line:
//   {"task": "level1/19_ReLU", "prompt": "text" or [{"role": "user", "content": "text"}, ...],
//    "completion": "<thinking>...</thinking>..."}
// Training converts them into token sequences in the model's chat format. A completion ends with
// the token that ends a turn.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/chat.h"
#include "text/prompt_record.h"
#include "train/batch/packing.h"

namespace tritonsmith::train {

struct SftExample {
  std::string task_id;
  std::vector<text::Message> prompt;
  std::string completion;
  std::optional<text::PromptRecord> asked = std::nullopt;  // how the prompt was made, where known
};

Json to_json(const SftExample& example);
Result<SftExample> sft_example_from_json(const Json& json);
// Fails with the file's name and the line's number.
Result<std::vector<SftExample>> read_sft_examples(const std::filesystem::path& file);
std::string sft_examples_to_jsonl(std::span<const SftExample> examples);

// How the examples were asked, where any of them says so and none says otherwise.
std::optional<text::PromptRecord> asked_alike(std::span<const SftExample> examples);

// In the order of the examples; those longer than `max_tokens` are left out.
std::vector<TrainingSequence> encode_examples(std::span<const SftExample> examples,
                                              const text::Tokenizer& tokenizer,
                                              const text::ChatTemplate& chat,
                                              std::int64_t max_tokens);

}  // namespace tritonsmith::train
