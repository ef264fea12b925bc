#include "generate/token_writer.h"

#include "generate/stop_strings.h"
#include "text/stream_decoder.h"

namespace tritonsmith::generate {

// The text of one completion while it is written. It goes to on_text and is searched for stop
// strings.
class TokenWriter::TextStream {
 public:
  TextStream(const text::Tokenizer& tokenizer, std::vector<std::string> stop,
             std::function<void(std::string_view)> on_text)
      : decoder_(tokenizer), search_(std::move(stop)), on_text_(std::move(on_text)) {}

  // Takes the new tokens. Returns true if the text holds a stop string.
  bool take(std::span<const TokenId> tokens) {
    for (; taken_ < tokens.size() && !is_found_; ++taken_) {
      const std::string piece = decoder_.push(tokens[taken_]);
      give(piece);
      is_found_ = search_.push(piece);
    }
    return is_found_;
  }
  // Passes on the part of the whole text that is still missing.
  void finish(std::string_view text) { give(text.substr(std::min(given_, text.size()))); }

 private:
  void give(std::string_view piece) {
    given_ += piece.size();
    if (on_text_ && !piece.empty()) on_text_(piece);
  }

  text::StreamDecoder decoder_;
  StopStringSearch search_;
  std::function<void(std::string_view)> on_text_;
  std::size_t taken_ = 0;  // in tokens
  std::size_t given_ = 0;  // in bytes
  bool is_found_ = false;
};

TokenWriter::TokenWriter(std::unique_ptr<TokenEngine> engine, ChatCodec codec)
    : engine_(std::move(engine)), codec_(std::move(codec)) {}

TokenWriter::~TokenWriter() = default;

Status TokenWriter::submit(WriteRequest request) {
  return submit(TokenRequest{.id = request.id,
                             .prompt = codec_.render(request.messages),
                             .sampling = std::move(request.sampling),
                             .seed = request.seed,
                             .on_text = std::move(request.on_text)});
}

Status TokenWriter::submit(TokenRequest request) {
  GenerationRequest generation{.id = request.id,
                               .prompt = std::move(request.prompt),
                               .sampling = std::move(request.sampling),
                               .stop_tokens = codec_.stop_tokens(),
                               .seed = request.seed};
  std::erase(generation.sampling.stop, "");
  if (generation.sampling.stop.empty() && !request.on_text)
    return engine_->submit(std::move(generation));
  auto stream = std::make_unique<TextStream>(codec_.tokenizer(), generation.sampling.stop,
                                             std::move(request.on_text));
  generation.is_complete = [&stream = *stream](std::span<const TokenId> tokens) {
    return stream.take(tokens);
  };
  streams_[request.id] = std::move(stream);
  const Status status = engine_->submit(std::move(generation));
  if (!status) streams_.erase(request.id);
  return status;
}

Result<std::optional<Written>> TokenWriter::next_by(Deadline deadline) {
  TRY_ASSIGN(auto generated, engine_->next_by(deadline));
  if (!generated) return std::optional<Written>();
  return std::optional(written_from(*std::move(generated)));
}

Written TokenWriter::written_from(Generated generated) {
  Written written{.id = generated.id, .completion = std::move(generated.completion)};
  Completion& completion = written.completion;
  auto decoded = text::decode_with_ends(codec_.tokenizer(), codec_.text_tokens(completion));
  completion.text = std::move(decoded.text);
  completion.usage = {.prompt_tokens = std::ssize(completion.prompt),
                      .completion_tokens = std::ssize(completion.tokens)};
  written.token_ends = std::move(decoded.token_ends);
  written.prompt = codec_.tokenizer().decode(completion.prompt);
  if (const auto stream = streams_.find(written.id); stream != streams_.end()) {
    stream->second->finish(completion.text);
    streams_.erase(stream);
  }
  return written;
}

void TokenWriter::cancel(std::uint64_t id) {
  engine_->cancel(id);
  streams_.erase(id);
}

bool TokenWriter::has_room(std::span<const text::Message> messages,
                           const SamplingParams& sampling) const {
  const auto limit = context_length();
  return !limit || std::ssize(codec_.render(messages)) + sampling.max_new_tokens <= *limit;
}

std::optional<std::int64_t> TokenWriter::context_length() const {
  const std::int64_t length = engine_->max_length();
  return length > 0 ? std::optional(length) : std::nullopt;
}

}  // namespace tritonsmith::generate
