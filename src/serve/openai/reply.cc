#include "serve/openai/reply.h"

#include <cmath>
#include <random>

#include "base/utc_time.h"

namespace tritonsmith::serve::openai {
namespace {

std::string finish_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::length:
      return "length";
    case FinishReason::filtered:
      return "content_filter";
    case FinishReason::stop:
    case FinishReason::cancelled:
      break;
  }
  return "stop";
}

Json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_prompt_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}}};
}

Json head_json(const ReplyHead& head, bool is_part) {
  const char* object = head.kind == ReplyKind::completion ? "text_completion"
                       : is_part                          ? "chat.completion.chunk"
                                                          : "chat.completion";
  return {{"id", head.id}, {"object", object}, {"created", head.created}, {"model", head.model}};
}

Json part(const ReplyHead& head, Json choice) {
  Json json = head_json(head, true);
  choice.emplace("finish_reason", nullptr);
  choice.emplace("logprobs", nullptr);
  json["choices"] = Json::array({std::move(choice)});
  return json;
}

double finite(float value) { return std::isfinite(value) ? value : -9999.0; }

}  // namespace

ReplyHead make_head(ReplyKind kind, const std::string& model) {
  static thread_local std::random_device random;  // its making costs more than a number
  return {.kind = kind,
          .id = fmt::format("{}-{:08x}{:08x}{:08x}", kind == ReplyKind::chat ? "chatcmpl" : "cmpl",
                            random(), random(), random()),
          .model = model,
          .created = unix_milliseconds() / 1000};
}

Json logprobs_of(ReplyKind kind, std::span<const TokenText> tokens, std::size_t offset) {
  if (tokens.empty()) return nullptr;
  Json names = Json::array(), numbers = Json::array(), offsets = Json::array();
  Json content = Json::array(), top = Json::array();
  for (const TokenText& token : tokens) {
    const double number = finite(token.logprob);
    Json bytes = Json::array();
    for (const char each : token.text) bytes.push_back(static_cast<unsigned char>(each));
    content.push_back({{"token", token.text},
                       {"logprob", number},
                       {"bytes", std::move(bytes)},
                       {"top_logprobs", Json::array()}});
    names.push_back(token.text);
    numbers.push_back(number);
    offsets.push_back(offset);
    top.push_back({{token.text, number}});
    offset += token.text.size();
  }
  if (kind == ReplyKind::chat) return {{"content", std::move(content)}, {"refusal", nullptr}};
  return {{"tokens", std::move(names)},
          {"token_logprobs", std::move(numbers)},
          {"top_logprobs", std::move(top)},
          {"text_offset", std::move(offsets)}};
}

Json whole_reply(const ReplyHead& head, const std::vector<Choice>& choices, const Usage& usage) {
  Json json = head_json(head, false);
  json["choices"] = Json::array();
  for (const Choice& each : choices) {
    Json choice = {{"index", each.index},
                   {"finish_reason", finish_name(each.finish)},
                   {"logprobs", each.logprobs}};
    if (head.kind == ReplyKind::completion) {
      choice["text"] = each.text;
    } else {
      choice["message"] = {{"role", "assistant"}, {"content", each.text}, {"refusal", nullptr}};
      if (!each.reasoning.empty()) choice["message"]["reasoning_content"] = each.reasoning;
    }
    json["choices"].push_back(std::move(choice));
  }
  json["usage"] = usage_json(usage);
  return json;
}

Json first_part(const ReplyHead& head, int index) {
  return part(head, {{"index", index}, {"delta", {{"role", "assistant"}, {"content", ""}}}});
}

Json text_part(const ReplyHead& head, int index, const std::string& text, Json logprobs) {
  Json choice = {{"index", index}, {"logprobs", std::move(logprobs)}};
  if (head.kind == ReplyKind::completion)
    choice["text"] = text;
  else
    choice["delta"] = {{"content", text}};
  return part(head, std::move(choice));
}

Json reasoning_part(const ReplyHead& head, int index, const std::string& text) {
  return part(head, {{"index", index}, {"delta", {{"reasoning_content", text}}}});
}

Json last_part(const ReplyHead& head, const Choice& choice) {
  Json end = {{"index", choice.index},
              {"finish_reason", finish_name(choice.finish)},
              {"logprobs", choice.logprobs}};
  if (head.kind == ReplyKind::completion)
    end["text"] = "";
  else
    end["delta"] = Json::object();
  return part(head, std::move(end));
}

Json usage_part(const ReplyHead& head, const Usage& usage) {
  Json json = head_json(head, true);
  json["choices"] = Json::array();
  json["usage"] = usage_json(usage);
  return json;
}

std::string event_text(const Json& json) { return "data: " + to_line(json) + "\n\n"; }

Json model_reply(const ModelEntry& model, std::int64_t created) {
  Json json = {
      {"id", model.name}, {"object", "model"}, {"created", created}, {"owned_by", "tritonsmith"}};
  if (model.context_length > 0) json["max_model_len"] = model.context_length;
  return json;
}

Json models_reply(const std::vector<ModelEntry>& models, std::int64_t created) {
  Json data = Json::array();
  for (const ModelEntry& each : models) data.push_back(model_reply(each, created));
  return {{"object", "list"}, {"data", std::move(data)}};
}

}  // namespace tritonsmith::serve::openai
