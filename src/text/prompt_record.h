// PromptRecord: the form of the prompts with which a model was trained. It is stored in the model's
// directory as prompt.json, so that later callers use the same form. `rl` writes it into each
// checkpoint, and `sft` copies that of its initial model. Checkpoints of others have none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "text/prompt.h"

namespace tritonsmith::text {

inline constexpr const char* kPromptRecordFile = "prompt.json";

struct PromptRecord {
  PromptConfig prompt;
  int max_new_tokens = 0;  // limit of a completion in tokens; 0: unknown
  static Fields<PromptRecord> fields();
  bool operator==(const PromptRecord&) const = default;
};

// An object of the fields. A missing field takes its default, an unknown one is an error.
Json to_json(const PromptRecord& record);
Result<PromptRecord> prompt_record_from_json(const Json& json, std::string_view source_name);
// The file's content: the same object over several lines.
std::string to_text(const PromptRecord& record);

// Returns nothing if the directory has no such file. Fails in one line that names the file if it is
// damaged.
Result<std::optional<PromptRecord>> read_prompt_record(const std::filesystem::path& directory);

}  // namespace tritonsmith::text
