// ChatCodec: how one model's messages become token ids, and its token ids text. TokenWriter has
// one. One thread uses a codec at a time: it remembers the ids of recent first prompts, since the
// samples of a group and the turns of a conversation begin alike.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "data/completion.h"
#include "text/chat.h"
#include "text/tokenizer.h"

namespace tritonsmith::generate {

class ChatCodec {
 public:
  // `end_tokens` are those that end a completion beside the chat format's own. The tokenizer must
  // outlive the codec.
  ChatCodec(const text::Tokenizer& tokenizer, text::ChatTemplate chat,
            std::span<const TokenId> end_tokens = {});

  // The ids of the prompt that a completion of these messages follows.
  std::vector<TokenId> render(std::span<const text::Message> messages);
  // The tokens that make up the completion's text: all but the stop token that ended it.
  std::span<const TokenId> text_tokens(const Completion& completion) const;

  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  const std::vector<TokenId>& stop_tokens() const { return stop_tokens_; }

 private:
  struct Opening {
    std::vector<text::Message> messages;
    text::RenderedChat rendered;
  };
  const text::RenderedChat& rendered_opening(std::span<const text::Message> messages);

  const text::Tokenizer* tokenizer_;
  text::ChatTemplate chat_;
  std::vector<TokenId> stop_tokens_;  // the chat format's own first
  std::deque<Opening> openings_;      // the latest last
};

}  // namespace tritonsmith::generate
