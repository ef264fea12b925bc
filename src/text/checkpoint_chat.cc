#include "text/checkpoint_chat.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "text/jinja_helper.h"

namespace tritonsmith::text {
namespace {

constexpr const char* kChatMlTemplate =
    "{% for message in messages %}\n"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}\n";

std::vector<std::vector<Message>> conversations_like(std::span<const Message> prompt) {
  std::vector<Message> first;
  for (const Message& message : prompt)
    first.push_back({message.role, fmt::format("Text of the {}, 1 + 1.", name_of(message.role))});
  std::vector<Message> second = first;
  second.push_back({Role::assistant, "It is 2."});
  second.push_back({Role::user, "Are you sure?"});
  return {first, second};
}

// Returns the text around a difference, on one line.
std::string around(const std::string& text, std::size_t position) {
  constexpr std::size_t kBefore = 20, kLength = 60;
  const std::size_t begin = position > kBefore ? position - kBefore : 0;
  return to_line(text.substr(std::min(begin, text.size()), kLength));
}

bool agree(const Tokenizer& tokenizer, std::span<const Message> conversation,
           const std::vector<TokenId>& ours, const std::string& theirs) {
  if (ours == tokenizer.encode(theirs)) return true;
  // A completion is sampled after the prompt's tokens and never tokenised together with them. In a
  // rendered text, its beginning may form one token with the line before it.
  const bool has_completion = std::ranges::count(conversation, Role::assistant, &Message::role) > 0;
  return has_completion && tokenizer.decode(ours) == theirs;
}

// Returns a description of the first difference, or an empty string if both agree.
std::string difference_of(const Tokenizer& tokenizer, const ChatTemplate& chat,
                          std::span<const std::vector<Message>> conversations,
                          std::span<const std::string> theirs) {
  for (std::size_t i = 0; i < conversations.size(); ++i) {
    const auto ids = chat.prompt_tokens(conversations[i]);
    if (agree(tokenizer, conversations[i], ids, theirs[i])) continue;
    const std::string ours = tokenizer.decode(ids);
    const auto [a, b] = std::ranges::mismatch(ours, theirs[i]);
    const auto position = static_cast<std::size_t>(a - ours.begin());
    return fmt::format("it gives {} where ours gives {}", around(theirs[i], position),
                       around(ours, position));
  }
  return {};
}

}  // namespace

Result<CheckpointChat> open_checkpoint_chat(const std::filesystem::path& directory,
                                            const Tokenizer& tokenizer,
                                            std::span<const Message> prompt) {
  TRY_ASSIGN(const auto formats, ChatTemplate::all_for(tokenizer));
  TRY_ASSIGN(const auto own, read_jinja_template(directory));
  if (!own) return CheckpointChat{.chat = formats.front()};
  const std::string what = fmt::format("the chat template of {}", directory.string());
  const auto conversations = conversations_like(prompt);
  const auto theirs = render_jinja(*own, conversations);
  if (!theirs)
    return CheckpointChat{
        .chat = formats.front(),
        .difference = fmt::format("{} cannot be rendered: {}", what, theirs.error().message)};
  std::string first_difference;
  for (const ChatTemplate& chat : formats) {
    const std::string difference = difference_of(tokenizer, chat, conversations, *theirs);
    if (difference.empty()) return CheckpointChat{.chat = chat};
    if (first_difference.empty()) first_difference = difference;
  }
  return CheckpointChat{
      .chat = formats.front(),
      .difference = fmt::format("{} is not the one we render: {}", what, first_difference)};
}

Status save_chat_files(const std::filesystem::path& directory) {
  TRY(write_file_atomic(directory / "chat_template.jinja", kChatMlTemplate));
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"eos_token", "<|im_end|>"},
                       {"pad_token", "<|endoftext|>"}};
  return write_file_atomic(directory / "tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace tritonsmith::text
