#include "serve/openai/messages.h"

#include <optional>
#include <utility>

namespace tritonsmith::serve::openai {
namespace {

enum class Sender { system, user, assistant, tool };

std::optional<Sender> sender_of(const Json& role) {
  if (role == "system" || role == "developer") return Sender::system;
  if (role == "user") return Sender::user;
  if (role == "assistant") return Sender::assistant;
  if (role == "tool" || role == "function") return Sender::tool;
  return std::nullopt;
}

// A tool's result is a message of the user.
text::Role role_of(Sender sender) {
  if (sender == Sender::system) return text::Role::system;
  return sender == Sender::assistant ? text::Role::assistant : text::Role::user;
}

// The text of a message's content: a string, or a list of parts.
std::optional<std::string> content_text(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const Json& part : content) {
    if (!part.is_object()) return std::nullopt;
    const Json words = part.value(part.contains("refusal") ? "refusal" : "text", Json());
    if (!words.is_string()) return std::nullopt;
    text += words.get<std::string>();
  }
  return text;
}

// `function` has the name, and the arguments as a text that should be JSON.
std::optional<std::string> call_text(const Json& function) {
  if (!function.is_object()) return std::nullopt;
  const Json name = function.value("name", Json());
  const Json written = function.value("arguments", Json(""));
  if (!name.is_string() || !written.is_string()) return std::nullopt;
  const auto arguments = parse_json(written.get<std::string>());
  const Json call = {{"name", name}, {"arguments", arguments ? *arguments : written}};
  return "<tool_call>\n" + to_line(call) + "\n</tool_call>";
}

// The text of an assistant's calls; nothing if they have another form.
std::optional<std::string> calls_text(const Json& message) {
  std::vector<Json> functions;
  if (const Json calls = message.value("tool_calls", Json()); calls.is_array()) {
    for (const Json& each : calls)
      functions.push_back(each.is_object() ? each.value("function", Json()) : Json());
  } else if (!calls.is_null()) {
    return std::nullopt;
  }
  if (const Json old = message.value("function_call", Json()); !old.is_null())
    functions.push_back(old);
  std::string text;
  for (const Json& each : functions) {
    const auto call = call_text(each);
    if (!call) return std::nullopt;
    text += (text.empty() ? "" : "\n") + *call;
  }
  return text;
}

// Reads the messages one after the other.
class ChatReader {
 public:
  explicit ChatReader(std::vector<text::Message>& messages) : messages_(messages) {}

  // Adds one message to the chat. Returns what is wrong with it; empty: nothing.
  std::string add(const Json& json) {
    const auto sender = json.is_object() ? sender_of(json.value("role", Json())) : std::nullopt;
    if (!sender) return "role must be system, developer, user, assistant or tool";
    const Json content = json.value("content", Json());
    const bool may_be_null = *sender == Sender::assistant || *sender == Sender::tool;
    auto text = content.is_null() && may_be_null ? std::string() : content_text(content);
    if (!text) return "content must be text";
    if (*sender == Sender::assistant) {
      const auto calls = calls_text(json);
      if (!calls) return "tool_calls must be a list of functions with their names and arguments";
      *text += (text->empty() || calls->empty() ? "" : "\n") + *calls;
    }
    if (*sender == Sender::tool) *text = "<tool_response>\n" + *text + "\n</tool_response>";
    const bool was_result = std::exchange(is_result_, *sender == Sender::tool);
    if (was_result && is_result_)
      messages_.back().content += "\n" + *text;
    else
      messages_.push_back({role_of(*sender), *std::move(text)});
    return "";
  }

 private:
  std::vector<text::Message>& messages_;
  bool is_result_ = false;  // the last message is a tool's
};

}  // namespace

void read_messages(Members& members, std::vector<text::Message>& messages) {
  const Json& list = members.get("messages");
  if (!list.is_array() || list.empty())
    return members.note(refuse("messages", "'messages' must be a list of at least one message"));
  ChatReader reader(messages);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (const std::string wrong = reader.add(list[i]); !wrong.empty())
      return members.note(refuse("messages", "messages[{}].{}", i, wrong));
  if (messages.back().role == text::Role::assistant)
    members.note(refuse("messages", "the last message must not be the assistant's"));
}

}  // namespace tritonsmith::serve::openai
