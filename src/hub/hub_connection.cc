#include "hub/hub_connection.h"

#include <httplib.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"

namespace tritonsmith::hub {
namespace {

constexpr int kConnectSeconds = 10, kSilenceSeconds = 30;
constexpr int kMostRedirects = 5;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of a page of the API
constexpr int kOk = 200, kPartial = 206, kUnauthorized = 401, kForbidden = 403, kNotFound = 404,
              kTimeout = 408, kBadRange = 416, kTooMany = 429;

bool is_redirect(int status) { return status > 300 && status < 309 && status != 304; }

// "https://host:port" of a URL.
std::string origin_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  return scheme == std::string::npos ? "" : url.substr(0, url.find('/', scheme + 3));
}

std::string path_of(const std::string& url) {
  const std::string path = url.substr(origin_of(url).size());
  return path.starts_with('/') ? path : "/" + path;
}

// The URL of rel="next" in a header Link.
std::string next_in(const std::string& link) {
  const std::size_t rel = link.find("rel=\"next\"");
  if (rel == std::string::npos) return {};
  const std::size_t begin = link.rfind('<', rel), end = link.rfind('>', rel);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return path_of(link.substr(begin + 1, end - begin - 1));
}

}  // namespace

struct HubConnection::Client {
  explicit Client(const std::string& origin) : http(origin) {
    http.set_connection_timeout(kConnectSeconds);
    http.set_read_timeout(kSilenceSeconds);
    http.set_keep_alive(true);
    http.set_url_encode(false);  // the signature of a CDN's URL covers its very bytes
    http.set_decompress(false);
  }
  httplib::Client http;
};

struct HubConnection::Answer {
  std::string body;  // where the bytes have no target
  std::string next;
};

struct HubConnection::Failure {
  int status = 0;  // 0: no answer
  std::string message, code = {}, detail = {};
  std::optional<double> retry_after_seconds = std::nullopt;
  bool is_final = false;  // it fails again, however often it is tried
  bool may_pass() const {
    return !is_final && (status == 0 || status >= 500 || status == kTooMany || status == kTimeout);
  }
};

std::string url_encoded(std::string_view text, std::string_view kept) {
  std::string url;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte < 128 && std::isalnum(byte) != 0;
    if (is_plain || std::string_view("-_.~").find(c) != std::string_view::npos ||
        kept.find(c) != std::string_view::npos)
      url += c;
    else
      url += fmt::format("%{:02X}", byte);
  }
  return url;
}

HubConnection::HubConnection(const HubSettings& settings)
    : settings_(settings), origin_(origin_of(settings.endpoint)) {
  prefix_ = settings.endpoint.substr(origin_.size());
}

HubConnection::~HubConnection() = default;

HubConnection::Client& HubConnection::client_of(const std::string& origin) {
  auto& client = clients_[origin];
  if (!client) client = std::make_unique<Client>(origin);
  return *client;
}

std::optional<HubConnection::Failure> HubConnection::get(const std::string& path,
                                                         ByteTarget* target, Answer& answer) {
  std::string origin = origin_, at = path;
  for (int i = 0; i <= kMostRedirects; ++i) {
    Answer here;
    auto failure = get_once(origin, at, target, here);
    if (!failure) {
      answer = std::move(here);
      return std::nullopt;
    }
    if (!is_redirect(failure->status)) return failure;
    const std::string& location = failure->detail;
    if (!origin_of(location).empty()) origin = origin_of(location);
    at = path_of(location);
  }
  return Failure{.message = fmt::format("{} redirects in a circle", origin_), .is_final = true};
}

std::optional<HubConnection::Failure> HubConnection::get_once(const std::string& origin,
                                                              const std::string& path,
                                                              ByteTarget* target, Answer& answer) {
  const std::int64_t begin = target != nullptr ? target->position() : 0;
  httplib::Request request;
  request.method = "GET";
  request.path = path;
  request.headers = {{"Accept-Encoding", "identity"}, {"User-Agent", "tritonsmith"}};
  if (begin > 0) request.headers.emplace("Range", fmt::format("bytes={}-", begin));
  if (origin == origin_ && !settings_.token.empty())
    request.headers.emplace("Authorization", "Bearer " + settings_.token);
  httplib::Response head;
  Status taken = ok();
  request.response_handler = [&](const httplib::Response& response) {
    head = response;
    if (target != nullptr && begin > 0 && head.status == kOk) taken = target->restart();
    const std::string range = head.get_header_value("Content-Range");
    if (target != nullptr && head.status == kPartial &&
        !range.starts_with(fmt::format("bytes {}-", begin)))
      taken = fail("{} sends another part of the file than the one asked for: '{}'", origin, range);
    return taken.has_value();
  };
  request.content_receiver = [&](const char* data, std::size_t length, std::uint64_t,
                                 std::uint64_t) {
    if (target != nullptr && (head.status == kOk || head.status == kPartial))
      taken = target->take({data, length});
    else if (answer.body.size() + length <= kMostBytes)
      answer.body.append(data, length);
    else
      taken = fail("{} answers with more than {} bytes", origin, kMostBytes);
    return taken.has_value();
  };
  const httplib::Result sent = client_of(origin).http.send(request);
  if (!taken) return Failure{.message = taken.error().message, .is_final = true};
  if (!sent) {
    const bool is_untrusted = sent.error() == httplib::Error::SSLServerVerification;
    return Failure{.message = fmt::format(
                       "no answer from {} ({}){}", origin, httplib::to_string(sent.error()),
                       is_untrusted ? "; SSL_CERT_FILE names the certificates to trust" : ""),
                   .is_final = is_untrusted};
  }
  answer.next = next_in(head.get_header_value("Link"));
  if (head.status == kOk || head.status == kPartial) return std::nullopt;
  Failure failure{.status = head.status,
                  .message = fmt::format("{} answers with HTTP status {}", origin, head.status),
                  .code = head.get_header_value("X-Error-Code"),
                  .detail = head.get_header_value("X-Error-Message")};
  if (is_redirect(head.status)) failure.detail = head.get_header_value("Location");
  const std::string wait = head.get_header_value("Retry-After");
  if (!wait.empty() && std::ranges::all_of(wait, [](unsigned char c) { return std::isdigit(c); }))
    failure.retry_after_seconds = std::strtod(wait.c_str(), nullptr);
  return failure;
}

void HubConnection::rest(const Failure& failure, int attempt) const {
  constexpr double kLongest = 60;
  const double own = settings_.first_wait_seconds * std::pow(2.0, attempt - 1);
  const double seconds = std::min(std::max(own, failure.retry_after_seconds.value_or(0)), kLongest);
  LOG("{}; trying again in {:.0f} s", failure.message, seconds);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable nobody;
  nobody.wait_until(lock, Deadline::in_seconds(seconds).at(), [] { return false; });
}

tl::unexpected<Error> HubConnection::error_of(const Failure& failure,
                                              const std::string& what) const {
  const std::string reason =
      failure.detail.empty() || is_redirect(failure.status) ? "" : ": " + printable(failure.detail);
  if (failure.status == 0) {
    if (failure.is_final) return fail("{}: {}", what, failure.message);
    return fail_by_fault("{}: {}", what, failure.message);
  }
  if (failure.code == "GatedRepo")
    return fail(
        "{} is gated: accept its conditions on its page at {}, and set HF_TOKEN to a token of the "
        "same user{}",
        what, settings_.endpoint, reason);
  if (failure.code == "RevisionNotFound") return fail("{}: there is no such revision", what);
  if (failure.code == "EntryNotFound") return fail("{}: there is no such file", what);
  if (failure.code == "RepoNotFound" || failure.status == kNotFound ||
      (failure.status == kUnauthorized && settings_.token.empty()))
    return fail(
        "{}: {} has nothing of this name, or it is private and HF_TOKEN holds no token that may "
        "read it",
        what, settings_.endpoint);
  if (failure.status == kUnauthorized || failure.status == kForbidden)
    return fail("{}: {} refuses the token of HF_TOKEN{}", what, settings_.endpoint, reason);
  if (failure.may_pass()) return fail_by_fault("{}: {}{}", what, failure.message, reason);
  return fail("{}: {}{}", what, failure.message, reason);
}

Result<HubConnection::Page> HubConnection::page(const std::string& path, const std::string& what) {
  for (int attempt = 1;; ++attempt) {
    Answer answer;
    const auto failure = get(prefix_ + path, nullptr, answer);
    if (!failure) {
      auto json = parse_json(answer.body);
      if (!json)
        return fail("{}: {} answers with something else than JSON; is it a hub?", what,
                    settings_.endpoint);
      // A next page is named as a whole URL, which holds the endpoint's own path.
      std::string next = answer.next;
      if (next.starts_with(prefix_)) next = next.substr(prefix_.size());
      return Page{.json = *std::move(json), .next = std::move(next)};
    }
    if (!failure->may_pass() || attempt >= settings_.attempts) return error_of(*failure, what);
    rest(*failure, attempt);
  }
}

Status HubConnection::download(const std::string& path, const std::string& what, std::int64_t size,
                               ByteTarget& target) {
  for (int attempt = 1; target.position() < size; ++attempt) {
    const std::int64_t before = target.position();
    Answer answer;
    auto failure = get(prefix_ + path, &target, answer);
    if (!failure && target.position() < size)
      failure = Failure{.message = fmt::format("the server broke off after {} of {} bytes",
                                               target.position(), size)};
    if (!failure) break;
    if (failure->status == kBadRange) TRY(target.restart());
    if (!failure->may_pass() && failure->status != kBadRange) return error_of(*failure, what);
    if (target.position() > before) attempt = 1;  // it makes progress
    if (attempt >= settings_.attempts) return error_of(*failure, what);
    rest(*failure, attempt);
  }
  return ok();
}

}  // namespace tritonsmith::hub
