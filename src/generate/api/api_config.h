// ApiConfig: how a model on somebody else's server is asked over OpenAI's protocol: where it is,
// what it may cost, and how long we wait for it. The key is no part of the config, because configs
// are written into records.
#pragma once

#include <string>
#include <vector>

#include "base/config.h"

namespace tritonsmith::generate {

// chat: /chat/completions with the messages. completions: /completions with the messages' contents,
// one after the other, for models that know no chat.
enum class ApiEndpoint { chat, completions };

// A server's prices, for each million tokens, in any currency.
struct ApiPrices {
  double input = 0;
  double cached_input = 0;
  double output = 0;  // reasoning included
  static Fields<ApiPrices> fields();
};

struct ApiConfig {
  std::string base_url;  // "https://api.openai.com/v1"; a URL without a path gets /v1
  std::string key_file;  // empty: $OPENAI_API_KEY, if it is set
  std::string ca_file;   // certificates to trust instead of the system's
  ApiEndpoint endpoint = ApiEndpoint::chat;
  bool stream = true;
  bool logprobs = false;
  int requests = 16;
  int attempts = 8;
  double first_wait_seconds = 1;
  double longest_wait_seconds = 60;
  double patience_seconds = 600;
  int connect_seconds = 10;
  int silence_seconds = 300;
  double request_seconds = 3600;
  std::string limit_name = "max_tokens";
  std::vector<std::string> omit;
  std::string extra = "{}";  // a JSON object
  double cost_limit = 0;
  std::string store;  // a file of answers; empty: the command's own
  ApiPrices prices;
  static Fields<ApiConfig> fields();
};

inline constexpr const char* kApiKeyVariable = "OPENAI_API_KEY";
inline constexpr const char* kApiUrlVariable = "OPENAI_BASE_URL";

// Returns the first line of `file`. Without a file it returns $OPENAI_API_KEY, or nothing if that is
// not set either.
Result<std::string> read_api_key(const std::string& file);

// A base URL in the parts that a client needs: "https://host:port" and "/v1".
struct ApiAddress {
  std::string origin;
  std::string path;                   // without a slash at its end
  bool is_open_to_listeners() const;  // no TLS, and another machine
};
Result<ApiAddress> parse_api_url(std::string_view url);

}  // namespace tritonsmith::generate

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::generate::ApiEndpoint> =
    tritonsmith::names<tritonsmith::generate::ApiEndpoint>(
        {{tritonsmith::generate::ApiEndpoint::chat, "chat"},
         {tritonsmith::generate::ApiEndpoint::completions, "completions"}});
