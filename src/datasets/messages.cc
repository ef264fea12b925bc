#include "datasets/messages.h"

#include <array>

namespace tritonsmith::datasets {
namespace {

using text::Message;
using text::Role;

Result<Role> role_of(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Role>, 10> kRoles = {
      {{"system", Role::system},
       {"developer", Role::system},
       {"user", Role::user},
       {"human", Role::user},
       {"tool", Role::user},
       {"function", Role::user},
       {"assistant", Role::assistant},
       {"gpt", Role::assistant},
       {"model", Role::assistant},
       {"bot", Role::assistant}}};
  for (const auto& [known, role] : kRoles)
    if (known == name) return role;
  return fail("'{}' is no role of a message", name.substr(0, 40));
}

// The content is text, or a list of parts of which those of type "text" count.
Result<std::string> content_of(const Json& message) {
  for (const char* name : {"content", "value"}) {
    const auto at = message.find(name);
    if (at == message.end() || at->is_null()) continue;
    if (at->is_string()) return at->get<std::string>();
    if (!at->is_array()) return fail("a message's {} must be text, not {}", name, at->type_name());
    std::string text;
    for (const Json& part : *at)
      if (part.is_object() && part.value("text", Json()).is_string())
        text += part["text"].get<std::string>();
    return text;
  }
  return fail("a message has no content");
}

Result<Message> message_of(const Json& json) {
  if (!json.is_object()) return fail("a message is an object, not {}", json.type_name());
  TRY_ASSIGN(const std::string name, text_column(json, {"role", "from"}));
  TRY_ASSIGN(const Role role, role_of(name));
  TRY_ASSIGN(std::string content, content_of(json));
  return Message{.role = role, .content = std::move(content)};
}

}  // namespace

Result<std::vector<Message>> messages_from_json(const Json& json) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text.starts_with('['))
      if (const auto list = parse_json(text); list && list->is_array())
        return messages_from_json(*list);
    return std::vector<Message>{{.role = Role::user, .content = text}};
  }
  if (!json.is_array())
    return fail("a conversation is a list of messages, not {}", json.type_name());
  std::vector<Message> messages;
  for (const Json& each : json) {
    TRY_ASSIGN(Message message, message_of(each));
    messages.push_back(std::move(message));
  }
  if (messages.empty()) return fail("a conversation has no messages");
  return messages;
}

Result<std::vector<Message>> messages_column(const Json& row, Names names) {
  for (const std::string_view name : names)
    if (const auto value = column(row, name)) {
      auto messages = messages_from_json(*value);
      if (!messages) return tl::unexpected(messages.error().within(fmt::format("'{}'", name)));
      return messages;
    }
  return fail("has no conversation");
}

Json to_json(const std::vector<Message>& messages) {
  Json list = Json::array();
  for (const Message& each : messages)
    list.push_back({{"role", name_of(each.role)}, {"content", each.content}});
  return list;
}

}  // namespace tritonsmith::datasets
