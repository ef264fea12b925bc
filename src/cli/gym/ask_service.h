// Questions to a running `gym serve`, for the commands of its operator and its clients.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/json.h"

namespace tritonsmith::cli {

struct ServiceAddress {
  std::string url, token_file;
};

// Adds --url and --token-file.
void add_service_options(CLI::App& command, std::string& url, std::string& token_file);

struct ServiceCall {
  std::string method = "GET", path;
  Json body = {};
};
// Returns the reply. Fails with one line if the service does not answer, or refuses.
Result<Json> ask_service(const ServiceAddress& service, const ServiceCall& call);

}  // namespace tritonsmith::cli
