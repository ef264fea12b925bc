// Writes replies of OpenAI's protocol as our server gives them: whole answers, and the events of a
// stream. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/openai/token_text.h"

namespace tritonsmith::serve::openai {

enum class ReplyKind { chat, completion };

// The fields that all parts of one reply share.
struct ReplyHead {
  ReplyKind kind = ReplyKind::chat;
  std::string id, model;
  std::int64_t created = 0;  // Unix seconds
};
// With a fresh random id.
ReplyHead make_head(ReplyKind kind, const std::string& model);

struct Choice {
  int index = 0;
  std::string text, reasoning;
  FinishReason finish = FinishReason::stop;
  Json logprobs;  // null: not asked for
};

// Tokens with their log-probabilities, in the kind's own form; null if there are none. `offset` is
// the byte of the choice's text at which the first of them begins.
Json logprobs_of(ReplyKind kind, std::span<const TokenText> tokens, std::size_t offset = 0);

Json whole_reply(const ReplyHead& head, const std::vector<Choice>& choices, const Usage& usage);
// The parts of a stream: a piece of a choice's text or reasoning, its end, and the usage.
Json first_part(const ReplyHead& head, int index);  // of chat: the role
Json text_part(const ReplyHead& head, int index, const std::string& text, Json logprobs = nullptr);
Json reasoning_part(const ReplyHead& head, int index, const std::string& text);
Json last_part(const ReplyHead& head, const Choice& choice);
Json usage_part(const ReplyHead& head, const Usage& usage);

// "data: JSON\n\n".
std::string event_text(const Json& json);
inline constexpr const char* kStreamEnd = "data: [DONE]\n\n";

// A model in the reply of /v1/models.
struct ModelEntry {
  std::string name;
  std::int64_t context_length = 0;  // 0: unknown
};
Json models_reply(const std::vector<ModelEntry>& models, std::int64_t created);
// The reply of /v1/models/NAME.
Json model_reply(const ModelEntry& model, std::int64_t created);

}  // namespace tritonsmith::serve::openai
