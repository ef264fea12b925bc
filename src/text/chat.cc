#include "text/chat.h"

namespace tritonsmith::text {
namespace {

void put(RenderedChat& chat, std::span<const TokenId> tokens, bool by_assistant) {
  chat.tokens.insert(chat.tokens.end(), tokens.begin(), tokens.end());
  chat.assistant_mask.resize(chat.tokens.size(), by_assistant);
}
void put(RenderedChat& chat, TokenId token, bool by_assistant) {
  put(chat, std::span(&token, 1), by_assistant);
}

}  // namespace

Result<ChatTemplate> ChatTemplate::make(const Tokenizer& tokenizer) {
  ChatTemplate chat(tokenizer);
  const auto start = tokenizer.id_of("<|im_start|>"), end = tokenizer.id_of("<|im_end|>");
  if (!start || !end)
    return fail("the tokenizer has no <|im_start|> and <|im_end|>, which ChatML needs");
  chat.start_ = *start;
  chat.end_ = *end;
  chat.newline_ = tokenizer.encode("\n");
  return chat;
}

RenderedChat ChatTemplate::render(std::span<const Message> messages) const {
  RenderedChat chat;
  for (const Message& message : messages) append(chat, message);
  return chat;
}

void ChatTemplate::append(RenderedChat& chat, const Message& message) const {
  if (message.role == Role::assistant) {
    append_generation_prompt(chat);
    append_completion(chat, tokenizer_->encode(message.content, SpecialText::plain));
    return;
  }
  put(chat, start_, false);
  // Role and content in one go, as a template rendered to text would be tokenised.
  const std::string text = fmt::format("{}\n{}", name_of(message.role), message.content);
  put(chat, tokenizer_->encode(text, SpecialText::plain), false);
  put(chat, end_, false);
  put(chat, newline_, false);
}

void ChatTemplate::append_generation_prompt(RenderedChat& chat) const {
  put(chat, start_, false);
  put(chat, tokenizer_->encode("assistant\n", SpecialText::plain), false);
}

void ChatTemplate::append_completion(RenderedChat& chat,
                                     std::span<const TokenId> completion) const {
  put(chat, completion, true);
  if (completion.empty() || completion.back() != end_) put(chat, end_, true);
  put(chat, newline_, false);
}

std::vector<TokenId> ChatTemplate::prompt_tokens(std::span<const Message> messages) const {
  RenderedChat chat = render(messages);
  append_generation_prompt(chat);
  return std::move(chat.tokens);
}

std::string to_text(std::span<const Message> messages) {
  std::string text;
  for (const Message& message : messages)
    text += fmt::format("[{}]\n{}\n", name_of(message.role), message.content);
  return text;
}

}  // namespace tritonsmith::text
