// Reads the bearer token and the address of the gym service, for the service and its clients.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tritonsmith::gym::api {

inline constexpr const char* kTokenVariable = "TRITONSMITH_GYM_TOKEN";

// Returns the first line of `file`. Without a file it returns TRITONSMITH_GYM_TOKEN of the
// environment, or an empty string if that is not set. A token has at least 16 printable characters
// without spaces.
Result<std::string> read_token(const std::filesystem::path& file);

// Examples: "HOST:PORT", "[::1]:8000".
struct HostAndPort {
  std::string host;
  int port = 0;
};
Result<HostAndPort> parse_host_and_port(std::string_view text);
// Whether only this machine reaches the address.
bool is_loopback(const std::string& host);

}  // namespace tritonsmith::gym::api
