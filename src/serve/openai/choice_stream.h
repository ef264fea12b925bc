// ChoiceStream: cuts what a model writes for one choice into the parts of a stream, each a piece of
// text with the tokens that end in it. The text ends before a stop string. Its beginning is held back
// until it is clear that it is none, and so are its tokens. All parts together have every token once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "serve/openai/stop_cutter.h"
#include "serve/openai/token_text.h"

namespace tritonsmith::serve::openai {

struct StreamPart {
  std::string text;
  std::vector<TokenText> tokens;
  std::size_t offset = 0;  // the byte of the choice's text at which the tokens begin
};

class ChoiceStream {
 public:
  explicit ChoiceStream(std::vector<std::string> stop) : cutter_(std::move(stop)) {}

  StreamPart push(std::string_view piece, std::span<const TokenText> tokens);
  // The rest, at the choice's end. `all` are the tokens of the whole choice.
  StreamPart finish(std::string_view piece, std::span<const TokenText> all);

 private:
  StopCutter cutter_;
  std::vector<TokenText> held_;  // tokens that no part has
  std::size_t given_ = 0;        // tokens of earlier parts
  std::size_t shown_ = 0;        // bytes of the text so far
  std::size_t begin_ = 0;        // the byte at which the first held token begins
};

}  // namespace tritonsmith::serve::openai
