#include "reward/url/url_reward.h"

#include <httplib.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/printable.h"

namespace tritonsmith::reward {
namespace {

constexpr double kFirstWaitSeconds = 1, kLongestWaitSeconds = 60;
constexpr std::size_t kMostShown = 200;                    // of a server's message
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // of an answer

struct Address {
  std::string origin, path;
};

Result<Address> parse_address(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const bool is_known = url.starts_with("http://") || url.starts_with("https://");
  if (!is_known || url.size() == scheme + 3)
    return fail("reward.url = \"{}\": must be a URL, as in http://127.0.0.1:9000/reward",
                printable(url));
  const std::size_t path = url.find('/', scheme + 3);
  if (path == std::string::npos) return Address{.origin = url, .path = "/"};
  return Address{.origin = url.substr(0, path), .path = url.substr(path)};
}

std::string body_of(std::span<const UrlItem> items) {
  Json list = Json::array();
  for (const UrlItem& item : items)
    list.push_back({{"task", item.task},
                    {"turn", item.turn},
                    {"prompt", item.prompt},
                    {"completion", item.completion},
                    {"kernel", item.kernel},
                    {"verdict", to_json(*item.verdict)}});
  return to_line({{"schema", 1}, {"items", std::move(list)}});
}

struct Failure {
  std::string message;
  double retry_after_seconds = 0;
  bool is_final = false;  // the server refuses, and will refuse again
};

Failure refusal_of(const httplib::Response& response) {
  constexpr int kTimeout = 408, kConflict = 409, kTooEarly = 425, kTooMany = 429;
  const int status = response.status;
  Failure failure{.message = fmt::format("status {}: {}", status,
                                         printable(response.body.substr(0, kMostShown)))};
  const double seconds = std::atof(response.get_header_value("Retry-After").c_str());
  if (std::isfinite(seconds)) failure.retry_after_seconds = std::clamp(seconds, 0.0, 600.0);
  failure.is_final = status < 500 && status != kTimeout && status != kConflict &&
                     status != kTooEarly && status != kTooMany;
  return failure;
}

// One attempt. The deadline holds for the whole answer, however slowly its bytes come.
Result<httplib::Response> post(const Address& address, const httplib::Headers& headers,
                               const std::string& body, int seconds) {
  httplib::Client http(address.origin);
  http.set_connection_timeout(std::min(seconds, 10));
  http.set_read_timeout(seconds);
  http.set_write_timeout(seconds);
  const Deadline deadline = Deadline::in_seconds(seconds);
  std::string answer;
  httplib::Request request;
  request.method = "POST";
  request.path = address.path;
  request.headers = headers;
  request.headers.emplace("Content-Type", "application/json");
  request.body = body;
  request.content_receiver = [&](const char* data, std::size_t length, std::uint64_t,
                                 std::uint64_t) {
    if (deadline.passed() || answer.size() + length > kMostBytes) return false;
    answer.append(data, length);
    return true;
  };
  const httplib::Result reply = http.send(request);
  if (!reply && deadline.passed()) return fail("no whole answer within {} seconds", seconds);
  if (!reply) return fail("no answer ({})", httplib::to_string(reply.error()));
  httplib::Response response;
  response.status = reply->status;
  response.headers = reply->headers;
  response.body = std::move(answer);
  return response;
}

}  // namespace

Fields<UrlRewardConfig> UrlRewardConfig::fields() {
  using C = UrlRewardConfig;
  return {field("url", &C::url,
                "The address of your own server that scores each completion, such as "
                "http://127.0.0.1:9000/reward. Empty: none."),
          field("url_weight", &C::url_weight, "The weight of that score."),
          field("url_batch", &C::url_batch,
                "How many completions one request to that server holds.", between(1, 4096)),
          field("url_seconds", &C::url_seconds, "The time limit for the answer to a request.",
                between(1, 3600)),
          field("url_attempts", &C::url_attempts,
                "How often a request is sent before the run stops.", between(1, 100)),
          field("url_token_file", &C::url_token_file,
                "The file whose first line is sent as a bearer token. Empty: no token is sent.")};
}

Status check(const UrlRewardConfig& config) {
  if (config.url.empty()) return ok();
  TRY(parse_address(config.url));
  return ok();
}

Result<std::vector<double>> rewards_in(std::string_view body, std::size_t count) {
  TRY_ASSIGN(const Json json, parse_json(body));
  const bool is_named = json.is_object() && json.contains("rewards");
  const Json& list = is_named ? json["rewards"] : json;
  if (!list.is_array()) return fail("holds no list \"rewards\"");
  if (list.size() != count) return fail("has {} rewards for {} completions", list.size(), count);
  std::vector<double> rewards;
  for (const Json& each : list) {
    if (!each.is_number() || !std::isfinite(each.get<double>()))
      return fail("reward {} is no number: {}", rewards.size(),
                  printable(to_line(each).substr(0, kMostShown)));
    rewards.push_back(each.get<double>());
  }
  return rewards;
}

Result<UrlReward> UrlReward::make(const UrlRewardConfig& config, Wait wait) {
  TRY(check(config));
  std::string token;
  if (!config.url_token_file.empty()) {
    TRY_ASSIGN(const std::string text, read_file(config.url_token_file));
    token = text.substr(0, text.find_first_of("\r\n"));
    if (token.empty()) return fail("{}: holds no token in its first line", config.url_token_file);
  }
  if (!wait)
    wait = [](double seconds) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    };
  return UrlReward(config, std::move(token), std::move(wait));
}

Result<std::vector<double>> UrlReward::ask(std::span<const UrlItem> items) const {
  std::vector<double> all;
  const auto most = static_cast<std::size_t>(config_.url_batch);
  for (std::size_t at = 0; at < items.size(); at += most) {
    TRY_ASSIGN(const auto some, ask_batch(items.subspan(at, std::min(most, items.size() - at))));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Result<std::vector<double>> UrlReward::ask_batch(std::span<const UrlItem> items) const {
  TRY_ASSIGN(const Address address, parse_address(config_.url));
  const std::string body = body_of(items);
  httplib::Headers headers;
  if (!token_.empty()) headers.emplace("Authorization", "Bearer " + token_);
  Failure failure;
  for (int attempt = 1; attempt <= config_.url_attempts; ++attempt) {
    if (attempt > 1) {
      const double own =
          std::min(kFirstWaitSeconds * std::pow(2.0, attempt - 2), kLongestWaitSeconds);
      wait_(std::max(own, failure.retry_after_seconds));
    }
    const auto reply = post(address, headers, body, config_.url_seconds);
    if (!reply) {
      failure = {.message = reply.error().message};
      continue;
    }
    if (reply->status != 200) {
      failure = refusal_of(*reply);
      if (failure.is_final) break;
      continue;
    }
    auto rewards = rewards_in(reply->body, items.size());
    if (rewards) return rewards;
    failure = {.message = "its answer " + rewards.error().message};
  }
  return fail_by_fault(
      "reward.url {}: {}; the run stopped, because a missing reward is no zero. Mend the server "
      "and start the run again: it goes on after its last checkpoint",
      config_.url, failure.message);
}

}  // namespace tritonsmith::reward
