#include "serve/openai/call.h"

#include <algorithm>

#include "serve/openai/members.h"
#include "serve/openai/messages.h"

namespace tritonsmith::serve::openai {
namespace {

// Reads what an editor says about its tools. No model here calls one: every answer is text. So only
// a request that insists on a call is refused.
void read_tools(Members& members) {
  for (const char* name : {"tools", "functions"})
    if (members.has(name) && !members.get(name).is_array())
      members.note(refuse(name, "'{}' must be a list", name));
  for (const char* name : {"tool_choice", "function_call"}) {
    const Json& choice = members.get(name);
    if (!choice.is_null() && choice != Json("auto") && choice != Json("none"))
      members.note(refuse(name,
                          "'{}' must be auto or none: the models of this server answer in text "
                          "and call no tools",
                          name));
  }
}

void refuse_other_formats(Members& members) {
  const Json& format = members.get("response_format");
  if (format.is_null() || (format.is_object() && format.value("type", Json("text")) == "text"))
    return;
  members.note(refuse("response_format",
                      "'response_format' must be text: this server cannot force an answer into "
                      "JSON. Leave it out, ask for JSON in a message, and check the answer"));
}

// Refuses members that would change the answer and that this server does not support.
void refuse_unknown_powers(Members& members) {
  read_tools(members);
  refuse_other_formats(members);
  if (members.has("logit_bias") && !members.get("logit_bias").empty())
    members.note(refuse("logit_bias", "'logit_bias' is not supported by this server"));
  for (const char* name : {"presence_penalty", "frequency_penalty"})
    if (members.number(name, 0, -2, 2) != 0)
      members.note(refuse(name, "'{}' must be 0: this server has no penalties", name));
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
