// TextStream: the text of one completion while its tokens come. It goes to a function piece by piece,
// and is searched for stop strings. One thread uses a stream.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generate/stop_strings.h"
#include "text/stream_decoder.h"

namespace tritonsmith::generate {

class TextStream {
 public:
  // The tokenizer must outlive the stream. `on_text` may be null.
  TextStream(const text::Tokenizer& tokenizer, std::vector<std::string> stop,
             std::function<void(std::string_view piece)> on_text)
      : decoder_(tokenizer), search_(std::move(stop)), on_text_(std::move(on_text)) {}

  // Takes all tokens so far, of which the last ones are new. Returns true if the text holds a stop
  // string.
  bool take(std::span<const TokenId> tokens);
  // Passes on the part of the whole text that is still missing.
  void finish(std::string_view text);

 private:
  void give(std::string_view piece);

  text::StreamDecoder decoder_;
  StopStringSearch search_;
  std::function<void(std::string_view)> on_text_;
  std::size_t taken_ = 0;  // in tokens
  std::size_t given_ = 0;  // in bytes
  bool is_found_ = false;
};

}  // namespace tritonsmith::generate
