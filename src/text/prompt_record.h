// PromptRecord: how a model was asked while it learnt, kept in its directory as prompt.json, so
// that whoever asks it later asks alike. `rl` writes it into each checkpoint, `sft` hands on what
// the model it began with has. Foreign checkpoints have none.
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
};

// The file's content: an object of the fields.
std::string to_text(const PromptRecord& record);

// Nothing where the directory has no such file. Fails in one line that names the file when it is
// damaged.
Result<std::optional<PromptRecord>> read_prompt_record(const std::filesystem::path& directory);

}  // namespace tritonsmith::text
