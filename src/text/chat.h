// ChatTemplate: renders conversations to token ids in the formats of the supported families:
//   ChatML  <|im_start|>user\n...<|im_end|>\n<|im_start|>assistant\n...<|im_end|>\n
//   Llama 3 <|start_header_id|>user<|end_header_id|>\n\n...<|eot_id|>...
// A mask marks the tokens that training learns from: the assistant's text and the token that ends
// it. Rendering only appends, so the ids of a conversation begin those of its continuation. A
// completion enters as the sampled tokens and is never tokenized again. If a message's text spells
// a special token, it stays plain text.
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
  // The sampled tokens of an assistant's message, with or without the token that ended it. If there
  // are tokens, a template renders them and ignores the content.
  std::vector<TokenId> tokens = {};
  bool operator==(const Message&) const = default;
};

struct RenderedChat {
  std::vector<TokenId> tokens;
  std::vector<bool> assistant_mask;  // one entry for each token
};

// The parts of a message in their order: open, role, close, gap, content, end, after_end. `open`
// and `end` are single tokens. `begin` and `close` are single tokens or empty.
struct ChatFormat {
  std::string_view begin;        // before the first message
  std::string_view open, close;  // around the role
  std::string_view gap;          // text between role and content
  std::string_view end;          // ends a message, and generation
  std::string_view after_end;    // text
  // Text at the beginning of the system message. A conversation without a system message gets one
  // that holds only this text.
  std::string_view system_preamble;
  bool trims = false;  // drops white space around a message's content
};

class ChatTemplate {
 public:
  // Returns the first template of all_for().
  static Result<ChatTemplate> make(const Tokenizer& tokenizer);
  // Returns every format whose tokens the tokenizer has, and fails if there is none. The tokenizer
  // must outlive the templates.
  static Result<std::vector<ChatTemplate>> all_for(const Tokenizer& tokenizer);

  RenderedChat render(std::span<const Message> messages) const;
  void append(RenderedChat& chat, const Message& message) const;
  // Appends "<|im_start|>assistant\n", which the model continues.
  void append_generation_prompt(RenderedChat& chat) const;
  // Appends the sampled completion. If the token that ends a turn is not its last one, this adds
  // it.
  void append_completion(RenderedChat& chat, std::span<const TokenId> completion) const;

  // Returns the ids of a prompt, ready for a completion.
  std::vector<TokenId> prompt_tokens(std::span<const Message> messages) const;
  // Returns the token that ends a completion: <|im_end|> or <|eot_id|>.
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

// Returns a readable form for records. It is not the form that is tokenized.
std::string to_text(std::span<const Message> messages);

}  // namespace tritonsmith::text

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::text::Role> =
    tritonsmith::names<tritonsmith::text::Role>({{tritonsmith::text::Role::system, "system"},
                                                 {tritonsmith::text::Role::user, "user"},
                                                 {tritonsmith::text::Role::assistant,
                                                  "assistant"}});
