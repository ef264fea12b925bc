// Reads the bearer token of the gym service, for the service and for its clients.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tritonsmith::gym::api {

inline constexpr const char* kTokenVariable = "TRITONSMITH_GYM_TOKEN";

// A token has at least 16 printable characters without spaces. Fails for anything else.
Status check_token(std::string_view token);
// Returns the first line of `file`. Without a file, it returns the environment variable
// TRITONSMITH_GYM_TOKEN, or an empty string if that is not set.
Result<std::string> read_token(const std::filesystem::path& file);

// A service's URL and its token. A URL may hold the token as a password: http://any:TOKEN@HOST:PORT.
struct ServiceUrl {
  std::string url;    // without the token, so it may be printed
  std::string token;  // empty: none
};
// Takes the token out of the URL, or else reads it as read_token() does.
Result<ServiceUrl> service_url(std::string_view url, const std::filesystem::path& token_file);
// Returns the URL without a user and a token, so that it may be printed.
std::string without_token(std::string_view url);

// An address such as "HOST:PORT" or "[::1]:8000".
struct HostAndPort {
  std::string host;
  int port = 0;
};
Result<HostAndPort> parse_host_and_port(std::string_view text);
// Says whether only programs on this machine can reach the host.
bool is_loopback(const std::string& host);

}  // namespace tritonsmith::gym::api
