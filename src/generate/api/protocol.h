// Speaks OpenAI's protocol as a client: it writes the body of a request, and reads the answer from
// a whole reply or from a stream of events. Servers differ in the names of fields, and every name
// that is in use is read. The functions are pure, and what a server sends is hostile data.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/event_stream.h"
#include "base/json.h"
#include "generate/api/api_config.h"
#include "generate/writer.h"

namespace tritonsmith::generate {

// Relative to the base URL: "/chat/completions".
std::string_view path_of(ApiEndpoint endpoint);

Json request_body(const WriteRequest& request, const std::string& model, const ApiConfig& config);

struct ApiReply {
  std::string text, reasoning;
  FinishReason finish = FinishReason::stop;
  Usage usage;
  std::string model;  // as the server calls it
  // Each token has a log-probability where the request asks for it and the server tells it. The ids are
  // those of the server's own tokenizer. There are none, or as many as log-probabilities.
  std::vector<float> logprobs = {};
  std::vector<TokenId> tokens = {};
};

Json to_json(const ApiReply& reply);
Result<ApiReply> stored_reply(const Json& json);

// A server's own account of an error. An object without one gives nothing.
struct ApiError {
  std::string code, message;
};
std::optional<ApiError> error_in(const Json& json);

// Fails where the object is no answer, or says that the server broke off.
Result<ApiReply> reply_from_json(const Json& json);

// Puts an answer together from the events of a stream.
class StreamedReply {
 public:
  // `on_text` receives the text, without the reasoning, as it arrives.
  explicit StreamedReply(std::function<void(std::string_view)> on_text)
      : on_text_(std::move(on_text)) {}
  // Fails at an event that is none of the protocol. `error()` then says whether the server reported
  // an error.
  Status take(const ServerEvent& event);
  const std::optional<ApiError>& error() const { return error_; }
  // Fails if the stream was cut before the completion's end.
  Result<ApiReply> finish() const;

 private:
  std::function<void(std::string_view)> on_text_;
  ApiReply reply_;
  std::optional<ApiError> error_;
  bool is_finished_ = false;
};

struct ApiModel {
  std::string name;
  std::optional<std::int64_t> context_length;  // where the server tells it
};
Result<std::vector<ApiModel>> models_from_json(const Json& json);

}  // namespace tritonsmith::generate
