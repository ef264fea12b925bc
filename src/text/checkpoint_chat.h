// CheckpointChat: the chat format of a model directory. The directory's own template (Jinja, in
// chat_template.jinja or tokenizer_config.json) is foreign code. A helper process renders it once
// with the package `jinja2` in its sandbox. The result is compared with our formats, and the one
// that agrees is used. Training and sampling always use our own rendering as token ids. Opening
// fails if no format fits the tokenizer, or if a file is damaged.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "text/chat.h"

namespace tritonsmith::text {

struct CheckpointChat {
  ChatTemplate chat;
  // One line that says how the template's rendering differs from `chat`, or why it cannot be
  // rendered. Empty if they agree, or if the directory has no template.
  std::string difference;
};

// `prompt` is an example of later prompts. Its roles are compared with short texts of our own, once
// as they are and once after a finished turn. The tokenizer must outlive the result.
Result<CheckpointChat> open_checkpoint_chat(const std::filesystem::path& directory,
                                            const Tokenizer& tokenizer,
                                            std::span<const Message> prompt);

// Writes chat_template.jinja (ChatML) and tokenizer_config.json into a new model's directory, so
// that other programs render its chat in the same way.
Status save_chat_files(const std::filesystem::path& directory);

}  // namespace tritonsmith::text
