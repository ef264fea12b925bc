// Chat: conversations rendered to token ids, in the formats of the families that we serve:
//   ChatML  <|im_start|>user\n...<|im_end|>\n<|im_start|>assistant\n...<|im_end|>\n
//   Llama 3 <|start_header_id|>user<|end_header_id|>\n\n...<|eot_id|>...
// with a mask of what the assistant wrote (its text and the token that ends it): what training
// learns from. Rendering only ever appends: the ids of a conversation are a prefix of the ids of
// its continuation. A completion goes in as the tokens that were sampled (Message::tokens).
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
  // An assistant's message as it was sampled, with or without the token that ended it. Where there
  // are tokens, a template renders them and not the content: nothing is tokenised again.
  std::vector<TokenId> tokens = {};
  bool operator==(const Message&) const = default;
};

struct RenderedChat {
  std::vector<TokenId> tokens;
  std::vector<bool> assistant_mask;  // as long as tokens
};

// How a format frames a message: open, role, close, gap, content, end, after_end. `open`, `end` and
// what is not empty of `begin` and `close` are tokens of their own.
struct ChatFormat {
  std::string_view begin;            // before the first message
  std::string_view open, close;      // around the role
  std::string_view gap;              // text between role and content
  std::string_view end;              // ends a message, and generation
  std::string_view after_end;        // text
  std::string_view system_preamble;  // text before the system message's own; adds one where none is
  bool trims = false;                // white space around a message's content is dropped
};

class ChatTemplate {
 public:
  // The first of all_for().
  static Result<ChatTemplate> make(const Tokenizer& tokenizer);
  // Every format whose tokens the tokenizer has; fails where there is none. The tokenizer must
  // outlive the templates.
  static Result<std::vector<ChatTemplate>> all_for(const Tokenizer& tokenizer);

  RenderedChat render(std::span<const Message> messages) const;
  void append(RenderedChat& chat, const Message& message) const;
  // "<|im_start|>assistant\n": what the model continues.
  void append_generation_prompt(RenderedChat& chat) const;
  // What it sampled there, with or without the token that ends its turn, and that token.
  void append_completion(RenderedChat& chat, std::span<const TokenId> completion) const;

  // The ids of a prompt that a completion follows.
  std::vector<TokenId> prompt_tokens(std::span<const Message> messages) const;
  // Generation ends at <|im_end|> or <|eot_id|>.
  TokenId stop_token() const { return end_; }

 private:
  ChatTemplate(const Tokenizer& tokenizer, const ChatFormat& format)
      : tokenizer_(&tokenizer), format_(format) {}
  void begin(RenderedChat& chat, Role first) const;
  void append_header(RenderedChat& chat, std::string_view role, std::string_view content) const;
  void append_text(RenderedChat& chat, std::string_view text) const;

  const Tokenizer* tokenizer_;
  ChatFormat format_;
  TokenId end_ = 0;
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
