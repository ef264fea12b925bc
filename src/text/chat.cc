#include "text/chat.h"

#include <algorithm>

#include "text/unicode.h"

namespace tritonsmith::text {
namespace {

constexpr ChatFormat kChatMl = {
    .open = "<|im_start|>", .gap = "\n", .end = "<|im_end|>", .after_end = "\n"};
constexpr ChatFormat kLlama3 = {.begin = "<|begin_of_text|>",
                                .open = "<|start_header_id|>",
                                .close = "<|end_header_id|>",
                                .gap = "\n\n",
                                .end = "<|eot_id|>",
                                .trims = true};
// Since Llama 3.1 every conversation begins with the dates that the model saw in training.
constexpr ChatFormat kLlama31 = {
    .begin = kLlama3.begin,
    .open = kLlama3.open,
    .close = kLlama3.close,
    .gap = kLlama3.gap,
    .end = kLlama3.end,
    .system_preamble = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n",
    .trims = true};
constexpr ChatFormat kFormats[] = {kChatMl, kLlama3, kLlama31};

void put(RenderedChat& chat, std::span<const TokenId> tokens, bool by_assistant) {
  chat.tokens.insert(chat.tokens.end(), tokens.begin(), tokens.end());
  chat.assistant_mask.resize(chat.tokens.size(), by_assistant);
}
void put(RenderedChat& chat, TokenId token, bool by_assistant) {
  put(chat, std::span(&token, 1), by_assistant);
}

bool has_tokens(const Tokenizer& tokenizer, const ChatFormat& format) {
  return std::ranges::all_of(
      std::initializer_list<std::string_view>{format.begin, format.open, format.close, format.end},
      [&](std::string_view token) { return token.empty() || tokenizer.id_of(token); });
}

// Tells whether Jinja's `trim` drops the character. It drops Python's white space.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::string_view trimmed(std::string_view text) {
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text.substr(at));
    if (!step.valid || !is_space(step.code_point)) {
      begin = std::min(begin, at);
      end = at + step.bytes;
    }
    at += step.bytes;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

}  // namespace

Result<ChatTemplate> ChatTemplate::make(const Tokenizer& tokenizer) {
  TRY_ASSIGN(const auto all, all_for(tokenizer));
  return all.front();
}

Result<std::vector<ChatTemplate>> ChatTemplate::all_for(const Tokenizer& tokenizer) {
  std::vector<ChatTemplate> all;
  for (const ChatFormat& format : kFormats) {
    if (!has_tokens(tokenizer, format)) continue;
    all.push_back(ChatTemplate(tokenizer, format));
    all.back().end_ = *tokenizer.id_of(format.end);
  }
  if (all.empty())
    return fail(
        "the tokenizer has neither <|im_start|> and <|im_end|>, which ChatML needs, nor "
        "<|start_header_id|>, <|end_header_id|> and <|eot_id|>, which Llama 3's format needs");
  return all;
}

void ChatTemplate::append_text(RenderedChat& chat, std::string_view text) const {
  if (!text.empty()) put(chat, tokenizer_->encode(text, SpecialText::plain), false);
}

// Appends the text between two special tokens at once. It is then tokenised as in a template's
// rendering.
void ChatTemplate::append_header(RenderedChat& chat, std::string_view role,
                                 std::string_view content) const {
  put(chat, *tokenizer_->id_of(format_.open), false);
  if (format_.close.empty())
    return append_text(chat, fmt::format("{}{}{}", role, format_.gap, content));
  append_text(chat, role);
  put(chat, *tokenizer_->id_of(format_.close), false);
  append_text(chat, fmt::format("{}{}", format_.gap, content));
}

// Appends the text before the first message.
void ChatTemplate::begin(RenderedChat& chat, Role first) const {
  if (!chat.tokens.empty()) return;
  if (!format_.begin.empty()) put(chat, *tokenizer_->id_of(format_.begin), false);
  if (!format_.system_preamble.empty() && first != Role::system)
    append(chat, {.role = Role::system, .content = ""});
}

RenderedChat ChatTemplate::render(std::span<const Message> messages) const {
  RenderedChat chat;
  for (const Message& message : messages) append(chat, message);
  return chat;
}

void ChatTemplate::append(RenderedChat& chat, const Message& message) const {
  begin(chat, message.role);
  const std::string_view content = format_.trims ? trimmed(message.content) : message.content;
  if (message.role == Role::assistant) {
    append_generation_prompt(chat);
    if (message.tokens.empty())
      append_completion(chat, tokenizer_->encode(content, SpecialText::plain));
    else
      append_completion(chat, message.tokens);
    return;
  }
  const bool is_system = message.role == Role::system;
  append_header(chat, name_of(message.role),
                fmt::format("{}{}", is_system ? format_.system_preamble : "", content));
  put(chat, end_, false);
  append_text(chat, format_.after_end);
}

void ChatTemplate::append_generation_prompt(RenderedChat& chat) const {
  begin(chat, Role::assistant);
  append_header(chat, name_of(Role::assistant), "");
}

void ChatTemplate::append_completion(RenderedChat& chat,
                                     std::span<const TokenId> completion) const {
  put(chat, completion, true);
  if (completion.empty() || completion.back() != end_) put(chat, end_, true);
  append_text(chat, format_.after_end);
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
