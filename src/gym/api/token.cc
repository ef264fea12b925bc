#include "gym/api/token.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/file.h"

namespace tritonsmith::gym::api {

Status check_token(std::string_view token) {
  constexpr std::size_t shortest = 16;
  if (token.size() < shortest ||
      !std::ranges::all_of(token, [](char c) { return c > ' ' && c < 127; }))
    return fail("no token; a token is one line of at least {} printable characters", shortest);
  return ok();
}

Result<std::string> read_token(const std::filesystem::path& file) {
  std::string token;
  std::string source = kTokenVariable;
  if (!file.empty()) {
    source = file.string();
    TRY_ASSIGN(const auto lines, read_lines(file));
    if (!lines.empty()) token = lines.front();
  } else if (const char* set = std::getenv(kTokenVariable); set != nullptr) {
    token = set;
  } else {
    return token;
  }
  TRY_WITHIN(source, check_token(token));
  return token;
}

namespace {

// Returns where the user's part of a URL begins and where its '@' stands, which is npos if it has
// none.
std::pair<std::size_t, std::size_t> user_in(std::string_view url) {
  constexpr std::string_view mark = "://";
  const std::size_t scheme = url.find(mark);
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + mark.size();
  const std::size_t at = url.substr(0, url.find('/', begin)).rfind('@');
  return {begin, at == std::string_view::npos || at < begin ? std::string_view::npos : at};
}

}  // namespace

std::string without_token(std::string_view url) {
  const auto [begin, at] = user_in(url);
  if (at == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, begin)).append(url.substr(at + 1));
}

Result<ServiceUrl> service_url(std::string_view url, const std::filesystem::path& token_file) {
  const auto [begin, at] = user_in(url);
  if (at == std::string_view::npos) {
    TRY_ASSIGN(std::string token, read_token(token_file));
    return ServiceUrl{.url = std::string(url), .token = std::move(token)};
  }
  const std::string_view user = url.substr(begin, at - begin);
  const std::size_t colon = user.find(':');
  std::string token(colon == std::string_view::npos ? "" : user.substr(colon + 1));
  TRY_WITHIN("the URL of the service", check_token(token));
  return ServiceUrl{.url = without_token(url), .token = std::move(token)};
}

Result<HostAndPort> parse_host_and_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  HostAndPort parsed;
  if (colon != std::string_view::npos) {
    parsed.host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), parsed.port);
    if (code != std::errc() || end != digits.data() + digits.size()) parsed.port = -1;
  }
  if (parsed.host.starts_with('[') && parsed.host.ends_with(']'))
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  constexpr int highest = 65535;
  if (parsed.host.empty() || parsed.port < 0 || parsed.port > highest)
    return fail("'{}' is no HOST:PORT, as in 127.0.0.1:8800", text);
  return parsed;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace tritonsmith::gym::api
