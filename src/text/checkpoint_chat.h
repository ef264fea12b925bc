// CheckpointChat: the chat format of a model directory. The directory's own template (Jinja, in
// chat_template.jinja or tokenizer_config.json) is foreign code: it is rendered once, by the
// package `jinja2` in its sandbox in a helper process, and compared with what we render; of the
// formats that we know, the one that agrees is taken. What is trained and sampled is always our own
// rendering, as token ids. May fail: no tokenizer that any format fits, a damaged file.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "text/chat.h"

namespace tritonsmith::text {

struct CheckpointChat {
  ChatTemplate chat;
  // One line that tells how the template renders otherwise than `chat`, or why it cannot be
  // rendered; empty where they agree, or where the directory has no template.
  std::string difference;
};

// `prompt` is one that will be asked: its roles are what is compared, with short texts of our own,
// once as it stands and once after a finished turn. The tokenizer must outlive the result.
Result<CheckpointChat> open_checkpoint_chat(const std::filesystem::path& directory,
                                            const Tokenizer& tokenizer,
                                            std::span<const Message> prompt);

// Gives a new model's directory what others need to chat with it as we do: chat_template.jinja
// (ChatML) and tokenizer_config.json.
Status save_chat_files(const std::filesystem::path& directory);

}  // namespace tritonsmith::text
