#include "generate/api/api_config.h"

#include <cstdlib>

#include "base/file.h"

namespace tritonsmith::generate {
namespace {

Status is_object(const std::string& text) {
  TRY_ASSIGN(const Json json, parse_json(text));
  if (!json.is_object())
    return fail("must be a JSON object, as in {{\"reasoning_effort\":\"low\"}}");
  return ok();
}

// The key without white space around it. A header cannot hold other characters than these.
Result<std::string> checked_key(std::string key, const std::string& source) {
  while (!key.empty() && std::isspace(static_cast<unsigned char>(key.back()))) key.pop_back();
  for (const char each : key)
    if (each <= ' ' || each > '~')
      return fail(
          "{}: the key has a character that no key has; it is one line of letters, digits "
          "and signs",
          source);
  return key;
}

}  // namespace

Fields<ApiPrices> ApiPrices::fields() {
  using C = ApiPrices;
  return {field("input", &C::input, "The price of a million prompt tokens.", at_least(0.0)),
          field("cached_input", &C::cached_input,
                "The price of a million prompt tokens that the server had cached. 0: the price of "
                "`input`.",
                at_least(0.0)),
          field("output", &C::output,
                "The price of a million completion tokens, reasoning included.", at_least(0.0))};
}

Fields<ApiConfig> ApiConfig::fields() {
  using C = ApiConfig;
  constexpr double day = 86400;
  Fields<C> all = {
      field("base_url", &C::base_url, "The address of the server, such as https://HOST:PORT/v1."),
      field("key_file", &C::key_file,
            "The first line of this file is the key. Empty: $OPENAI_API_KEY."),
      field("ca_file", &C::ca_file, "Certificates to trust instead of the system's."),
      field("endpoint", &C::endpoint,
            "The endpoint: chat, or completions for a model that knows no chat."),
      field("stream", &C::stream, "Receive the text while the model writes it."),
      field("logprobs", &C::logprobs,
            "Ask for the log-probability of each token, and keep it in the records."),
      field("requests", &C::requests, "How many requests run at the same time.", between(1, 1024)),
      field("attempts", &C::attempts,
            "How often a request is sent if the server fails to answer it.", between(1, 1000)),
      field("first_wait_seconds", &C::first_wait_seconds,
            "The wait before the second attempt. Each later wait is twice as long.",
            between(0.0, day)),
      field("longest_wait_seconds", &C::longest_wait_seconds,
            "The longest wait between two attempts, unless the server asks for more.",
            between(0.0, day)),
      field("patience_seconds", &C::patience_seconds,
            "A server that says only 'too many requests' for this long counts as gone.",
            between(0.0, day)),
      field("connect_seconds", &C::connect_seconds, "The time limit for connecting.",
            between(1, 3600)),
      field("silence_seconds", &C::silence_seconds,
            "The longest time between two bytes. Without `stream` it limits the whole answer.",
            between(1, 86400)),
      field("request_seconds", &C::request_seconds, "The time limit for one answer.",
            between(0.0, day)),
      field("limit_name", &C::limit_name,
            "The server's name for the limit of new tokens: max_tokens or max_completion_tokens."),
      field("omit", &C::omit, "Settings that are not sent, such as [\"seed\", \"top_p\"]."),
      field("extra", &C::extra, "A JSON object whose members are sent too.", is_object),
      field("cost_limit", &C::cost_limit,
            "The command stops asking beyond this cost, by `prices`. 0: no limit.", at_least(0.0)),
      field("store", &C::store,
            "A file of answers, so that nothing is asked twice. Empty: `eval` keeps "
            "requests.sqlite in --out, `write` keeps nothing."),
  };
  append_section(all, "prices", &C::prices);
  return all;
}

Result<std::string> read_api_key(const std::string& file) {
  if (file.empty()) {
    const char* variable = std::getenv(kApiKeyVariable);
    return checked_key(variable != nullptr ? variable : "", kApiKeyVariable);
  }
  TRY_ASSIGN(const auto lines, read_lines(file));
  if (lines.empty() || lines.front().empty())
    return fail("{}: its first line must be the key", file);
  return checked_key(lines.front(), file);
}

bool ApiAddress::is_open_to_listeners() const {
  if (origin.starts_with("https://")) return false;
  const std::string_view host = std::string_view(origin).substr(std::string_view("http://").size());
  return !host.starts_with("127.") && !host.starts_with("localhost") && !host.starts_with("[::1]");
}

Result<ApiAddress> parse_api_url(std::string_view url) {
  const auto refused = [url] {
    return fail(
        "'{}' is no URL of a server, as in https://api.openai.com/v1 or "
        "http://127.0.0.1:8000/v1",
        url);
  };
  const std::size_t scheme = url.find("://");
  if (!url.starts_with("http://") && !url.starts_with("https://")) return refused();
  const std::size_t host = scheme + 3, slash = url.find('/', host);
  ApiAddress address{.origin = std::string(url.substr(0, slash)),
                     .path = slash == std::string_view::npos ? "" : std::string(url.substr(slash))};
  if (address.origin.size() == host || url.find_first_of("?#") != std::string_view::npos)
    return refused();
  for (const char each : url)
    if (each <= ' ' || each > '~' || each == '@') return refused();
  while (address.path.ends_with('/')) address.path.pop_back();
  if (address.path.empty()) address.path = "/v1";
  return address;
}

}  // namespace tritonsmith::generate
