// Formats the access log: one line for each answered request, as text or as JSON. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/enum_names.h"

namespace tritonsmith::gym::service {

enum class AccessLogForm { off, text, json };

struct AccessLogEntry {
  std::int64_t unix_ms = 0;  // when the request arrived
  std::string address;       // the client's address
  std::string token;         // the token's name; empty: the client showed none
  std::string method, target;
  int status = 0;
  std::size_t bytes = 0;  // the size of the reply's body; 0 for a stream
  double milliseconds = 0;
};

// Returns the line without a newline. Text from the network is escaped.
std::string access_log_line(const AccessLogEntry& entry, AccessLogForm form);

}  // namespace tritonsmith::gym::service

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::service::AccessLogForm> =
    names<gym::service::AccessLogForm>({{gym::service::AccessLogForm::off, "off"},
                                        {gym::service::AccessLogForm::text, "text"},
                                        {gym::service::AccessLogForm::json, "json"}});
}  // namespace tritonsmith
