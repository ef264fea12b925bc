// Where the bearer token of the gym service comes from, on both sides.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tritonsmith::gym::api {

inline constexpr const char* kTokenVariable = "TRITONSMITH_GYM_TOKEN";

// A token has at least 16 printable characters without spaces. Fails for anything else.
Status check_token(std::string_view token);
// The first line of `file`; without a file the environment's TRITONSMITH_GYM_TOKEN, which may be
// absent: then empty.
Result<std::string> read_token(const std::filesystem::path& file);

// "HOST:PORT", "[::1]:8000".
struct HostAndPort {
  std::string host;
  int port = 0;
};
Result<HostAndPort> parse_host_and_port(std::string_view text);
// Whether nobody but this machine reaches it.
bool is_loopback(const std::string& host);

}  // namespace tritonsmith::gym::api
