// Decides whether a request that failed is sent again, and when. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "generate/api/api_config.h"

namespace tritonsmith::generate {

// A failed attempt: no connection, a refusal, or an answer that is none.
struct ApiFailure {
  int status = 0;  // HTTP's; 0: no reply, or a reply that broke off or is none of the protocol
  std::string code;
  std::string message;  // one line
  std::optional<double> retry_after_seconds;
  bool is_final = false;  // no repetition can help, as with a certificate that is not trusted
};

enum class AfterFailure {
  ask_again,
  finish_cut,       // the conversation does not fit into the model's context
  finish_filtered,  // the server refuses to answer this conversation
  give_up,          // no request to this server can succeed
};
AfterFailure after(const ApiFailure& failure);

// Says whether the server asks for patience, which does not count as a failed attempt.
bool is_busy(const ApiFailure& failure);

// The time before attempt `attempt` + 1. Without a wish of the server's it doubles with each
// attempt, less a random share of up to a half, so that clients do not come back together. `random`
// lies in [0, 1).
double wait_seconds(const ApiFailure& failure, int attempt, const ApiConfig& config, double random);

// Reads "Retry-After" (seconds, or a date of HTTP) and "retry-after-ms". `unix_seconds` is now.
std::optional<double> retry_after_seconds(const std::string& retry_after,
                                          const std::string& milliseconds, double unix_seconds);

}  // namespace tritonsmith::generate
