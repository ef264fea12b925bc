#include "serve/openai/call.h"

#include <algorithm>

namespace tritonsmith::serve::openai {
namespace {

using Refusal = tl::unexpected<CallError>;

template <typename... Args>
Refusal refuse(std::string_view parameter, fmt::format_string<Args...> format, Args&&... args) {
  return Refusal(CallError{.message = fmt::format(format, std::forward<Args>(args)...),
                           .parameter = std::string(parameter)});
}

// Reads the members of a body. The first one that is wrong becomes the refusal.
class Members {
 public:
  explicit Members(const Json& body) : body_(body) {}

  const Json& get(const char* name) const {
    static const Json none;
    const auto at = body_.find(name);
    return at == body_.end() ? none : *at;
  }
  bool has(const char* name) const { return !get(name).is_null(); }

  double number(const char* name, double fallback, double low, double high) {
    const Json& value = get(name);
    if (value.is_null()) return fallback;
    const double number = value.is_number() ? value.get<double>() : low - 1;
    if (number >= low && number <= high) return number;
    note(refuse(name, "'{}' must be a number between {} and {}", name, low, high));
    return fallback;
  }
  std::int64_t integer(const char* name, std::int64_t fallback, std::int64_t low,
                       std::int64_t high) {
    const Json& value = get(name);
    if (value.is_null()) return fallback;
    if (value.is_number_integer() && value.get<std::int64_t>() >= low &&
        value.get<std::int64_t>() <= high)
      return value.get<std::int64_t>();
    note(refuse(name, "'{}' must be a whole number between {} and {}", name, low, high));
    return fallback;
  }
  bool boolean(const char* name) {
    const Json& value = get(name);
    if (!value.is_null() && !value.is_boolean())
      note(refuse(name, "'{}' must be true or false", name));
    return value.is_boolean() && value.get<bool>();
  }
  std::string string(const char* name) {
    const Json& value = get(name);
    if (!value.is_string()) note(refuse(name, "'{}' must be a string", name));
    return value.is_string() ? value.get<std::string>() : "";
  }
  void note(Refusal refusal) {
    if (!error_) error_ = std::move(refusal).value();
  }
  const std::optional<CallError>& error() const { return error_; }

 private:
  const Json& body_;
  std::optional<CallError> error_;
};

// Refuses members that would change the answer and that this server does not support.
void refuse_unknown_powers(Members& members) {
  for (const char* name : {"tools", "functions", "logit_bias"})
    if (members.has(name) && !members.get(name).empty())
      members.note(refuse(name, "'{}' is not supported by this server", name));
  for (const char* name : {"presence_penalty", "frequency_penalty"})
    if (members.number(name, 0, -2, 2) != 0)
      members.note(refuse(name, "'{}' must be 0: this server has no penalties", name));
  const Json& format = members.get("response_format");
  if (format.is_object() && format.value("type", "text") != "text")
    members.note(refuse("response_format", "'response_format' must be text"));
}

void read_stop(Members& members, std::vector<std::string>& stop) {
  constexpr std::size_t most = 16;
  const Json& value = members.get("stop");
  if (value.is_null()) return;
  if (value.is_string()) {
    stop = {value.get<std::string>()};
  } else if (value.is_array() && value.size() <= most &&
             std::ranges::all_of(value, [](const Json& each) { return each.is_string(); })) {
    stop = value.get<std::vector<std::string>>();
  } else {
    members.note(refuse("stop", "'stop' must be a string or a list of at most {} strings", most));
  }
  std::erase(stop, "");
}

void read_call(Members& members, const CallLimits& limits, Call& call) {
  constexpr std::int64_t most_tokens = 1 << 24;
  call.model = members.string("model");
  call.sampling.temperature = members.number("temperature", 1, 0, 100);
  call.sampling.top_p = members.number("top_p", 1, 1e-6, 1);
  call.sampling.top_k =
      static_cast<int>(std::max<std::int64_t>(0, members.integer("top_k", 0, -1, most_tokens)));
  const std::int64_t limit = members.integer("max_tokens", 0, 1, most_tokens);
  call.sampling.max_new_tokens =
      static_cast<int>(members.integer("max_completion_tokens", limit, 1, most_tokens));
  read_stop(members, call.sampling.stop);
  if (members.has("seed"))
    call.seed = static_cast<std::uint64_t>(members.integer("seed", 0, INT64_MIN, INT64_MAX));
  call.choices = static_cast<int>(members.integer("n", 1, 1, limits.choices));
  call.is_streamed = members.boolean("stream");
  if (call.is_streamed) {
    const Json& options = members.get("stream_options");
    call.has_usage = options.is_object() && options.value("include_usage", Json()) == Json(true);
  }
  refuse_unknown_powers(members);
  if (const Json& extension = members.get("tritonsmith"); extension.is_object())
    call.extension = extension;
}

// The text of a message's content: a string, or a list of parts.
std::optional<std::string> content_text(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const Json& part : content) {
    if (!part.is_object() || !part.contains("text") || !part["text"].is_string())
      return std::nullopt;
    text += part["text"].get<std::string>();
  }
  return text;
}

std::optional<text::Role> role_of(const Json& name) {
  if (name == "developer") return text::Role::system;
  if (!name.is_string()) return std::nullopt;
  const auto role = enum_from_name<text::Role>(name.get<std::string>());
  return role ? std::optional(*role) : std::nullopt;
}

void read_messages(Members& members, std::vector<text::Message>& messages) {
  const Json& list = members.get("messages");
  if (!list.is_array() || list.empty())
    return members.note(refuse("messages", "'messages' must be a list of at least one message"));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& each = list[i];
    const auto role = each.is_object() ? role_of(each.value("role", Json())) : std::nullopt;
    const auto content =
        each.is_object() ? content_text(each.value("content", Json())) : std::nullopt;
    if (!role)
      return members.note(refuse("messages",
                                 "messages[{}].role must be system, developer, user or "
                                 "assistant",
                                 i));
    if (!content) return members.note(refuse("messages", "messages[{}].content must be text", i));
    messages.push_back({*role, *content});
  }
  if (messages.back().role == text::Role::assistant)
    members.note(refuse("messages", "the last message must not be the assistant's"));
}

std::optional<Prompt> ids_of(const Json& list) {
  std::vector<TokenId> ids;
  for (const Json& each : list) {
    if (!each.is_number_unsigned() || each.get<std::uint64_t>() > INT32_MAX) return std::nullopt;
    ids.push_back(each.get<TokenId>());
  }
  return ids.empty() ? std::nullopt : std::optional<Prompt>(std::move(ids));
}

void read_prompts(Members& members, std::vector<Prompt>& prompts) {
  const Json& value = members.get("prompt");
  if (value.is_string()) prompts.emplace_back(value.get<std::string>());
  if (value.is_array() && !value.empty() && value.front().is_number()) {
    if (auto ids = ids_of(value)) prompts.push_back(*std::move(ids));
  } else if (value.is_array()) {
    for (const Json& each : value) {
      if (each.is_string()) prompts.emplace_back(each.get<std::string>());
      if (each.is_array())
        if (auto ids = ids_of(each)) prompts.push_back(*std::move(ids));
    }
    if (prompts.size() != value.size()) prompts.clear();
  }
  if (prompts.empty())
    members.note(refuse("prompt", "'prompt' must be text, token ids, or a list of either"));
  else if (std::ranges::find(prompts, Prompt("")) != prompts.end())
    members.note(refuse("prompt", "'prompt' is empty: it must hold at least one token"));
}

CallResult<Json> parse_body(std::string_view body) {
  auto json = parse_json(body);
  if (!json) return Refusal(CallError{.message = "the body is no JSON: " + json.error().message});
  if (!json->is_object()) return Refusal(CallError{.message = "the body must be a JSON object"});
  return *std::move(json);
}

}  // namespace

Json to_json(const CallError& error) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  return {{"error",
           {{"message", error.message},
            {"type", error.status == 401   ? "authentication_error"
                     : error.status == 429 ? "rate_limit_error"
                     : error.status >= 500 ? "server_error"
                                           : "invalid_request_error"},
            {"param", text_or_null(error.parameter)},
            {"code", text_or_null(error.code)}}}};
}

CallResult<ChatCall> parse_chat_call(std::string_view body, const CallLimits& limits) {
  const auto json = parse_body(body);
  if (!json) return Refusal(json.error());
  Members members(*json);
  ChatCall call;
  read_call(members, limits, call);
  read_messages(members, call.messages);
  call.has_logprobs = members.boolean("logprobs");
  if (members.integer("top_logprobs", 0, 0, INT32_MAX) > 0)
    members.note(refuse("top_logprobs",
                        "'top_logprobs' must be 0: this server knows the sampled "
                        "token's only"));
  if (members.error()) return Refusal(*members.error());
  return call;
}

CallResult<CompletionCall> parse_completion_call(std::string_view body, const CallLimits& limits) {
  const auto json = parse_body(body);
  if (!json) return Refusal(json.error());
  Members members(*json);
  CompletionCall call;
  read_call(members, limits, call);
  read_prompts(members, call.prompts);
  // `logprobs: N` asks for the N likeliest tokens too; 0 and 1 are what we can give.
  if (const Json& logprobs = members.get("logprobs");
      !logprobs.is_null() && logprobs != Json(false)) {
    if (!logprobs.is_boolean()) static_cast<void>(members.integer("logprobs", 0, 0, 1));
    call.has_logprobs = true;
  }
  if (members.boolean("echo")) members.note(refuse("echo", "'echo' is not supported"));
  if (members.has("suffix") && members.get("suffix") != Json(""))
    members.note(refuse("suffix", "'suffix' is not supported"));
  if (members.integer("best_of", call.choices, 1, INT32_MAX) != call.choices)
    members.note(refuse("best_of", "'best_of' must equal 'n'"));
  if (std::ssize(call.prompts) * call.choices > limits.choices)
    members.note(refuse("n", "prompts times 'n' may be {} at most", limits.choices));
  if (members.error()) return Refusal(*members.error());
  return call;
}

}  // namespace tritonsmith::serve::openai
