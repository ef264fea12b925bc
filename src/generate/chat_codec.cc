#include "generate/chat_codec.h"

#include <algorithm>

namespace tritonsmith::generate {
namespace {

// This is more than the prompts of a usual training step, and takes a few megabytes.
constexpr std::size_t kMostOpenings = 256;

}  // namespace

ChatCodec::ChatCodec(const text::Tokenizer& tokenizer, text::ChatTemplate chat,
                     std::span<const TokenId> end_tokens)
    : tokenizer_(&tokenizer), chat_(chat), stop_tokens_{chat.stop_token()} {
  for (const TokenId token : end_tokens)
    if (std::ranges::find(stop_tokens_, token) == stop_tokens_.end()) stop_tokens_.push_back(token);
}

const text::RenderedChat& ChatCodec::rendered_opening(std::span<const text::Message> messages) {
  const auto known = std::ranges::find_if(openings_, [&](const Opening& opening) {
    return std::ranges::equal(opening.messages, messages);
  });
  if (known != openings_.end()) return known->rendered;
  if (openings_.size() == kMostOpenings) openings_.pop_front();
  openings_.push_back(
      {.messages = {messages.begin(), messages.end()}, .rendered = chat_.render(messages)});
  return openings_.back().rendered;
}

std::vector<TokenId> ChatCodec::render(std::span<const text::Message> messages) {
  const auto answer = std::ranges::find(messages, text::Role::assistant, &text::Message::role);
  const auto opening = static_cast<std::size_t>(answer - messages.begin());
  text::RenderedChat rendered = rendered_opening(messages.first(opening));
  for (const text::Message& message : messages.subspan(opening)) chat_.append(rendered, message);
  chat_.append_generation_prompt(rendered);
  return std::move(rendered.tokens);
}

std::span<const TokenId> ChatCodec::text_tokens(const Completion& completion) const {
  const std::span<const TokenId> tokens = completion.tokens;
  const bool ends_in_one =
      !tokens.empty() && std::ranges::find(stop_tokens_, tokens.back()) != stop_tokens_.end();
  return ends_in_one ? tokens.first(tokens.size() - 1) : tokens;
}

}  // namespace tritonsmith::generate
