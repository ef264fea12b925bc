// TokenWriter: a Writer over an engine of token ids (token_engine.h). It renders messages with the
// model's chat format, ends completions at stop strings, and turns ids into text. Its completions
// also have token ids and log-probabilities, which reinforcement learning needs.
//
// Equal messages give equal prompts, so the engine computes a prompt once for all of its samples.
// An assistant's message that carries its tokens is never tokenized again.
#pragma once

#include <map>
#include <memory>

#include "generate/chat_codec.h"
#include "generate/text_stream.h"
#include "generate/token_engine.h"
#include "generate/writer.h"

namespace tritonsmith::generate {

struct TokenRequest {
  std::uint64_t id = 0;         // differs between all requests in flight, of both kinds
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling;
  std::uint64_t seed = 0;
  std::function<void(std::string_view piece)> on_text = nullptr;  // as in WriteRequest
};

// The request as the engine takes it, without an is_complete. Moves the prompt out of `request`.
GenerationRequest generation_of(const ChatCodec& codec, TokenRequest& request);
// The completion with its text.
Written written_from(const ChatCodec& codec, Generated generated);

class TokenWriter : public Writer {
 public:
  TokenWriter(std::unique_ptr<TokenEngine> engine, ChatCodec codec);
  ~TokenWriter() override;

  Status submit(WriteRequest request) override;
  // Does the same for a prompt of token ids. next_by() returns its completion, too.
  Status submit(TokenRequest request);
  Result<std::optional<Written>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  bool has_room(std::span<const text::Message> messages,
                const SamplingParams& sampling) const override;
  std::optional<std::int64_t> context_length() const override;

  // For a caller that reads and writes text on other threads than the engine's. It must not call the
  // functions above meanwhile.
  TokenEngine& engine() { return *engine_; }
  const ChatCodec& codec() const { return codec_; }

 private:
  std::unique_ptr<TokenEngine> engine_;
  mutable ChatCodec codec_;
  // The requests in flight with an on_text.
  std::map<std::uint64_t, std::unique_ptr<TextStream>> streams_;
};

}  // namespace tritonsmith::generate
