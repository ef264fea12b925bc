#include "generate/api/protocol.h"

#include <algorithm>

namespace tritonsmith::generate {
namespace {

// The member, or null where the object has none.
const Json& member(const Json& json, const char* name) {
  static const Json none;
  if (!json.is_object()) return none;
  const auto at = json.find(name);
  return at == json.end() ? none : *at;
}

std::string text_member(const Json& json, const char* name) {
  const Json& value = member(json, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::int64_t count_member(const Json& json, const char* name) {
  const Json& value = member(json, name);
  return value.is_number_integer() ? std::max<std::int64_t>(0, value.get<std::int64_t>()) : 0;
}

// Adds a message, or a piece of one. The content is a string or a list of parts.
void append_message(const Json& message, ApiReply& reply, std::string& piece) {
  const Json& content = member(message, "content");
  if (content.is_string()) piece += content.get<std::string>();
  if (content.is_array())
    for (const Json& part : content) {
      piece += text_member(part, "text");
      const Json& thinking = member(part, "thinking");
      if (thinking.is_string()) reply.reasoning += thinking.get<std::string>();
      if (thinking.is_array())
        for (const Json& each : thinking) reply.reasoning += text_member(each, "text");
    }
  const std::string reasoning = text_member(message, "reasoning_content");
  reply.reasoning += reasoning.empty() ? text_member(message, "reasoning") : reasoning;
}

// `aborted`: the server broke off, so the text is no completion.
Result<FinishReason> finish_reason(const std::string& name) {
  if (name == "length" || name == "max_tokens") return FinishReason::length;
  if (name == "content_filter" || name == "safety") return FinishReason::filtered;
  if (name == "error" || name == "abort" || name == "cancelled")
    return fail("the server broke the completion off ('{}')", name);
  return FinishReason::stop;
}

void read_usage(const Json& json, Usage& usage) {
  const Json& counts = member(json, "usage");
  if (!counts.is_object()) return;
  usage.prompt_tokens = count_member(counts, "prompt_tokens");
  usage.completion_tokens = count_member(counts, "completion_tokens");
  usage.cached_prompt_tokens =
      std::max(count_member(member(counts, "prompt_tokens_details"), "cached_tokens"),
               count_member(counts, "prompt_cache_hit_tokens"));
  usage.reasoning_tokens =
      count_member(member(counts, "completion_tokens_details"), "reasoning_tokens");
}

void append_logprob(const Json& value, ApiReply& reply) {
  const double logprob = value.is_number() ? value.get<double>() : 0;
  reply.logprobs.push_back(static_cast<float>(std::clamp(logprob, -1e30, 0.0)));
}

// Adds what a choice, or a piece of one, says of its tokens: `logprobs.content` of a chat,
// `logprobs.token_logprobs` of a completion, and vLLM's `token_ids`.
void append_tokens(const Json& choice, ApiReply& reply) {
  const Json& logprobs = member(choice, "logprobs");
  const Json &of_chat = member(logprobs, "content"),
             &of_completion = member(logprobs, "token_logprobs");
  if (of_chat.is_array())
    for (const Json& each : of_chat) append_logprob(member(each, "logprob"), reply);
  else if (of_completion.is_array())
    for (const Json& each : of_completion) append_logprob(each, reply);
  const Json& ids = member(choice, "token_ids");
  if (!ids.is_array()) return;
  for (const Json& each : ids) {
    const std::int64_t id = each.is_number_integer() ? each.get<std::int64_t>() : -1;
    reply.tokens.push_back(std::in_range<TokenId>(id) ? static_cast<TokenId>(id) : -1);
  }
}

// Ids that are not those of the tokens with log-probabilities name nothing.
void drop_odd_ids(ApiReply& reply) {
  if (reply.tokens.size() != reply.logprobs.size() ||
      std::ranges::any_of(reply.tokens, [](TokenId id) { return id < 0; }))
    reply.tokens.clear();
}

// The first choice, or null.
const Json& first_choice(const Json& json) {
  static const Json none;
  const Json& choices = member(json, "choices");
  return choices.is_array() && !choices.empty() && choices.front().is_object() ? choices.front()
                                                                               : none;
}

}  // namespace

std::string_view path_of(ApiEndpoint endpoint) {
  return endpoint == ApiEndpoint::chat ? "/chat/completions" : "/completions";
}

Json request_body(const WriteRequest& request, const std::string& model, const ApiConfig& config) {
  Json body = {{"model", model},
               {"temperature", request.sampling.temperature},
               {"top_p", request.sampling.top_p},
               {config.limit_name, request.sampling.max_new_tokens},
               // Some servers keep a seed in 32 bits, signed or not.
               {"seed", request.seed & 0x7fffffffU},
               {"stream", config.stream}};
  if (config.stream) body["stream_options"] = {{"include_usage", true}};
  if (config.logprobs)
    body["logprobs"] = config.endpoint == ApiEndpoint::chat ? Json(true) : Json(1);
  if (!request.sampling.stop.empty()) body["stop"] = request.sampling.stop;
  if (request.sampling.top_k > 0) body["top_k"] = request.sampling.top_k;
  if (config.endpoint == ApiEndpoint::chat) {
    Json messages = Json::array();
    for (const text::Message& each : request.messages)
      messages.push_back({{"role", name_of(each.role)}, {"content", each.content}});
    body["messages"] = std::move(messages);
  } else {
    std::string prompt;
    for (const text::Message& each : request.messages) prompt += each.content + "\n\n";
    body["prompt"] = prompt;
  }
  for (const std::string& name : config.omit) body.erase(name);
  const auto extra = parse_json(config.extra);
  if (extra && extra->is_object()) body.update(*extra);
  return body;
}

Json to_json(const ApiReply& reply) {
  Json json = {{"text", reply.text},
               {"reasoning", reply.reasoning},
               {"finish", name_of(reply.finish)},
               {"model", reply.model},
               {"prompt_tokens", reply.usage.prompt_tokens},
               {"cached_prompt_tokens", reply.usage.cached_prompt_tokens},
               {"completion_tokens", reply.usage.completion_tokens},
               {"reasoning_tokens", reply.usage.reasoning_tokens}};
  if (!reply.logprobs.empty()) json["logprobs"] = reply.logprobs;
  if (!reply.tokens.empty()) json["tokens"] = reply.tokens;
  return json;
}

Result<ApiReply> stored_reply(const Json& json) {
  JsonReader reader(json);
  ApiReply reply{.text = reader.string("text"),
                 .reasoning = reader.string("reasoning"),
                 .finish = reader.enumerated<FinishReason>("finish"),
                 .usage = {.prompt_tokens = reader.integer("prompt_tokens"),
                           .cached_prompt_tokens = reader.integer("cached_prompt_tokens"),
                           .completion_tokens = reader.integer("completion_tokens"),
                           .reasoning_tokens = reader.integer("reasoning_tokens")},
                 .model = reader.string("model")};
  TRY(reader.status());
  if (member(json, "logprobs").is_array())
    for (const Json& each : json["logprobs"]) append_logprob(each, reply);
  if (member(json, "tokens").is_array())
    for (const Json& each : json["tokens"])
      reply.tokens.push_back(each.is_number_integer() ? each.get<TokenId>() : -1);
  drop_odd_ids(reply);
  return reply;
}

std::optional<ApiError> error_in(const Json& json) {
  const Json& error = member(json, "error");
  if (error.is_string()) return ApiError{.message = error.get<std::string>()};
  if (error.is_object()) {
    const std::string code = text_member(error, "code");
    return ApiError{.code = code.empty() ? text_member(error, "type") : code,
                    .message = text_member(error, "message")};
  }
  // vLLM's older form, and FastAPI's.
  if (text_member(json, "object") == "error")
    return ApiError{.code = text_member(json, "type"), .message = text_member(json, "message")};
  const Json& detail = member(json, "detail");
  if (!detail.is_null())
    return ApiError{.message = detail.is_string() ? detail.get<std::string>() : to_line(detail)};
  return std::nullopt;
}

Result<ApiReply> reply_from_json(const Json& json) {
  const Json& choice = first_choice(json);
  if (choice.is_null()) return fail("the answer has no 'choices'");
  ApiReply reply{.model = text_member(json, "model")};
  const Json& message = member(choice, "message");
  if (message.is_object()) {
    append_message(message, reply, reply.text);
  } else if (member(choice, "text").is_string()) {
    reply.text = text_member(choice, "text");
  } else {
    return fail("the answer's choice has neither 'message' nor 'text'");
  }
  TRY_ASSIGN(reply.finish, finish_reason(text_member(choice, "finish_reason")));
  read_usage(json, reply.usage);
  append_tokens(choice, reply);
  drop_odd_ids(reply);
  return reply;
}

Status StreamedReply::take(const ServerEvent& event) {
  if (event.data == "[DONE]") return ok();
  TRY_ASSIGN(const Json json, parse_json(event.data));
  if (!json.is_object()) return fail("an event is no object");
  error_ = error_in(json);
  if (error_) return fail("the server reports an error: {}", error_->message);
  if (const std::string model = text_member(json, "model"); !model.empty()) reply_.model = model;
  read_usage(json, reply_.usage);
  const Json& choice = first_choice(json);
  if (choice.is_null()) return ok();  // usage, or a sign of life
  std::string piece = text_member(choice, "text");
  append_message(member(choice, "delta"), reply_, piece);
  reply_.text += piece;
  append_tokens(choice, reply_);
  if (on_text_ && !piece.empty()) on_text_(piece);
  if (const std::string reason = text_member(choice, "finish_reason"); !reason.empty()) {
    TRY_ASSIGN(reply_.finish, finish_reason(reason));
    is_finished_ = true;
  }
  return ok();
}

Result<ApiReply> StreamedReply::finish() const {
  if (!is_finished_) return fail("the stream ended before the completion did");
  ApiReply reply = reply_;
  drop_odd_ids(reply);
  return reply;
}

Result<std::vector<ApiModel>> models_from_json(const Json& json) {
  const Json& data = member(json, "data");
  if (!data.is_array()) return fail("the list of models has no 'data'");
  std::vector<ApiModel> models;
  for (const Json& each : data) {
    ApiModel model{.name = text_member(each, "id")};
    for (const char* name : {"max_model_len", "context_length", "context_window"})
      if (const std::int64_t length = count_member(each, name); length > 0)
        model.context_length = length;
    if (!model.name.empty()) models.push_back(std::move(model));
  }
  return models;
}

}  // namespace tritonsmith::generate
