// Parses calls of OpenAI's protocol as our server reads them: the body of /v1/chat/completions and
// of /v1/completions. Pure functions of hostile data. A setting that we cannot honour is refused,
// and never ignored, unless it cannot change the answer.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "generate/sampling.h"
#include "text/chat.h"

namespace tritonsmith::serve::openai {

// A refusal in OpenAI's terms.
struct CallError {
  int status = 400;
  std::string message;
  std::string parameter = {};  // the member at fault; empty: none
  std::string code = {};
};
Json to_json(const CallError& error);
template <typename T>
using CallResult = tl::expected<T, CallError>;

struct CallLimits {
  int choices = 64;  // of one call: prompts x n
};

struct Call {
  std::string model;
  generate::SamplingParams sampling;  // max_new_tokens is 0 if the call names no limit
  std::optional<std::uint64_t> seed;
  int choices = 1;  // n
  bool is_streamed = false;
  bool has_usage = true;  // of a stream: whether the last event has the usage
  bool has_logprobs = false;
  Json extension = Json::object();  // the member `tritonsmith`
};

struct ChatCall : Call {
  std::vector<text::Message> messages;
};

using Prompt = std::variant<std::string, std::vector<TokenId>>;
struct CompletionCall : Call {
  std::vector<Prompt> prompts;
};

CallResult<ChatCall> parse_chat_call(std::string_view body, const CallLimits& limits);
CallResult<CompletionCall> parse_completion_call(std::string_view body, const CallLimits& limits);

}  // namespace tritonsmith::serve::openai
