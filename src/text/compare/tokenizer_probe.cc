// The program that the comparison scripts run. It reads requests on stdin and writes answers on
// stdout, all as frames (4 bytes of length, little endian, then bytes).
//   tokenizer_probe encode TOKENIZER   each frame is a text; answers: its ids; and those ids
//                                      decoded, with and without special tokens, and decoded
//                                      token by token
//   tokenizer_probe decode TOKENIZER   each frame is a list of ids; answers as above, but the ids
//   tokenizer_probe chat TOKENIZER     each frame is a JSON list of {role, content}; answers: ids,
//                                      mask
//   tokenizer_probe train SETTINGS     SETTINGS is JSON; each frame is a document; answers: the
//                                      tokenizer.json
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>

#include "base/file.h"
#include "text/chat.h"
#include "text/stream_decoder.h"
#include "text/tokenizer.h"

namespace tritonsmith::text {
namespace {

bool read_frame(std::string& frame) {
  std::uint32_t size = 0;
  if (std::fread(&size, sizeof size, 1, stdin) != 1) return false;
  frame.resize(size);
  return std::fread(frame.data(), 1, size, stdin) == size;
}

void write_frame(std::string_view frame) {
  const auto size = static_cast<std::uint32_t>(frame.size());
  std::fwrite(&size, sizeof size, 1, stdout);
  std::fwrite(frame.data(), 1, frame.size(), stdout);
}

std::string as_bytes(std::span<const TokenId> ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size_bytes()};
}

void write_decoded(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  write_frame(tokenizer.decode(ids));
  write_frame(tokenizer.decode(ids, SkipSpecial::yes));
  StreamDecoder decoder(tokenizer);
  std::string streamed;
  for (const TokenId id : ids) streamed += decoder.push(id);
  write_frame(streamed + decoder.finish());
}

Status encode(const Tokenizer& tokenizer) {
  for (std::string text; read_frame(text);) {
    const auto ids = tokenizer.framed(tokenizer.encode(text));
    write_frame(as_bytes(ids));
    write_decoded(tokenizer, ids);
  }
  return ok();
}

Status decode(const Tokenizer& tokenizer) {
  for (std::string bytes; read_frame(bytes);) {
    std::vector<TokenId> ids(bytes.size() / sizeof(TokenId));
    std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(TokenId));
    write_decoded(tokenizer, ids);
  }
  return ok();
}

Status chat(const Tokenizer& tokenizer) {
  TRY_ASSIGN(const ChatTemplate chatml, ChatTemplate::make(tokenizer));
  for (std::string text; read_frame(text);) {
    TRY_ASSIGN(const Json json, parse_json(text));
    std::vector<Message> messages;
    for (const Json& item : json) {
      JsonReader reader(item);
      messages.push_back({reader.enumerated<Role>("role"), reader.string("content")});
      TRY(reader.status());
    }
    const RenderedChat rendered = chatml.render(messages);
    write_frame(as_bytes(rendered.tokens));
    write_frame(std::string(rendered.assistant_mask.begin(), rendered.assistant_mask.end()));
  }
  return ok();
}

Status train(const char* settings) {
  TRY_ASSIGN(const Json json, parse_json(settings));
  JsonReader reader(json);
  TokenizerTraining training{.vocabulary_size = static_cast<int>(reader.integer("vocabulary_size")),
                             .pieces = reader.enumerated<PieceRule>("pieces"),
                             .nfc = reader.boolean("nfc", false),
                             .min_count = static_cast<int>(reader.integer("min_count", 2))};
  for (const std::string& content : reader.strings("special"))
    training.added_tokens.push_back({.content = content, .special = true});
  TRY(reader.status());
  std::vector<std::string> corpus;
  for (std::string document; read_frame(document);) corpus.push_back(document);
  TRY_ASSIGN(const Tokenizer tokenizer, Tokenizer::train(corpus, training));
  write_frame(tokenizer.to_json());
  return ok();
}

Status run(std::string_view mode, const char* argument) {
  if (mode == "train") return train(argument);
  TRY_ASSIGN(const Tokenizer tokenizer, Tokenizer::from_file(argument));
  if (mode == "encode") return encode(tokenizer);
  if (mode == "decode") return decode(tokenizer);
  if (mode == "chat") return chat(tokenizer);
  return fail("unknown mode '{}'", mode);
}

}  // namespace
}  // namespace tritonsmith::text

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto status = tritonsmith::text::run(argv[1], argv[2]);
  if (!status) std::fprintf(stderr, "tokenizer_probe: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
