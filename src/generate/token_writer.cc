#include "generate/token_writer.h"

#include "text/stream_decoder.h"

namespace tritonsmith::generate {

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

GenerationRequest generation_of(const ChatCodec& codec, TokenRequest& request) {
  std::erase(request.sampling.stop, "");
  return {.id = request.id,
          .prompt = std::move(request.prompt),
          .sampling = request.sampling,
          .stop_tokens = codec.stop_tokens(),
          .seed = request.seed};
}

Written written_from(const ChatCodec& codec, Generated generated) {
  Written written{.id = generated.id, .completion = std::move(generated.completion)};
  Completion& completion = written.completion;
  auto decoded = text::decode_with_ends(codec.tokenizer(), codec.text_tokens(completion));
  completion.text = std::move(decoded.text);
  completion.usage = {.prompt_tokens = std::ssize(completion.prompt),
                      .completion_tokens = std::ssize(completion.tokens)};
  written.token_ends = std::move(decoded.token_ends);
  written.prompt = codec.tokenizer().decode(completion.prompt);
  return written;
}

Status TokenWriter::submit(TokenRequest request) {
  GenerationRequest generation = generation_of(codec_, request);
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
  Written written = written_from(codec_, *std::move(generated));
  if (const auto stream = streams_.find(written.id); stream != streams_.end()) {
    stream->second->finish(written.completion.text);
    streams_.erase(stream);
  }
  return std::optional(std::move(written));
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
