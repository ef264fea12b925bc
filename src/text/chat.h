// Chat: ChatML rendered to token ids,
//   <|im_start|>system\n...<|im_end|>\n<|im_start|>user\n...<|im_end|>\n<|im_start|>assistant\n...<|im_end|>\n
// with a mask of what the assistant wrote (its text and the <|im_end|> that ends it): what training
// learns from. Rendering only ever appends: the ids of a conversation are a prefix of the ids of
// its continuation, and completions go in as the tokens that were sampled, never tokenised anew.
// Special tokens written out in a message stay plain text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/json.h"
#include "text/tokenizer.h"

namespace tritonsmith::text {

enum class Role { system, user, assistant };

struct Message {
  Role role = Role::user;
  std::string content;
  bool operator==(const Message&) const = default;
};

struct RenderedChat {
  std::vector<TokenId> tokens;
  std::vector<bool> assistant_mask;  // as long as tokens
};

class ChatTemplate {
 public:
  // Fails when the tokenizer lacks <|im_start|> or <|im_end|> as tokens of their own. It must
  // outlive the template.
  static Result<ChatTemplate> make(const Tokenizer& tokenizer);

  RenderedChat render(std::span<const Message> messages) const;
  void append(RenderedChat& chat, const Message& message) const;
  // "<|im_start|>assistant\n": what the model continues.
  void append_generation_prompt(RenderedChat& chat) const;
  // What it sampled there, with or without the final <|im_end|>, and the end of its turn.
  void append_completion(RenderedChat& chat, std::span<const TokenId> completion) const;

  // The ids of a prompt that a completion follows.
  std::vector<TokenId> prompt_tokens(std::span<const Message> messages) const;
  // Generation ends at <|im_end|>.
  TokenId stop_token() const { return end_; }

 private:
  explicit ChatTemplate(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  const Tokenizer* tokenizer_;
  TokenId start_ = 0, end_ = 0;
  std::vector<TokenId> newline_;
};

// A readable form for records and prompts on paper; not what is tokenised.
std::string to_text(std::span<const Message> messages);

}  // namespace tritonsmith::text

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::text::Role> =
    tritonsmith::names<tritonsmith::text::Role>({{tritonsmith::text::Role::system, "system"},
                                                 {tritonsmith::text::Role::user, "user"},
                                                 {tritonsmith::text::Role::assistant,
                                                  "assistant"}});
