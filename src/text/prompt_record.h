// PromptRecord: how a model was asked while it learnt, kept in its directory as prompt.json, so
// that `eval` and `write` ask it alike. `tasks teach` and `tasks from-run` put it into each
// example, and `sft` writes what the examples say into each checkpoint. Where the examples say
// nothing, `sft` hands on the prompt.json of the model it began with. `rl` writes its own [prompt]
// section. Foreign checkpoints have none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "text/prompt.h"

namespace tritonsmith::text {

inline constexpr const char* kPromptRecordFile = "prompt.json";

struct PromptRecord {
  PromptConfig prompt;
  int max_new_tokens = 0;  // of a completion; 0: not known
  static Fields<PromptRecord> fields();
  bool operator==(const PromptRecord&) const = default;
};

// An object of the fields. A missing field takes its default, an unknown one is an error.
Json to_json(const PromptRecord& record);
Result<PromptRecord> prompt_record_from_json(const Json& json, std::string_view source_name);
// The file's content: the same object over several lines.
std::string to_text(const PromptRecord& record);

// Nothing where the directory has no such file. Fails in one line that names the file when it is
// damaged.
Result<std::optional<PromptRecord>> read_prompt_record(const std::filesystem::path& directory);

}  // namespace tritonsmith::text
