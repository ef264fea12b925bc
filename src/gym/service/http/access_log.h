// The access log: one line for each request that was answered, as text or as JSON. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/enum_names.h"

namespace tritonsmith::gym::service {

enum class AccessLogForm { off, text, json };

struct AccessLogEntry {
  std::int64_t unix_ms = 0;  // when the request came
  std::string address;       // of the client
  std::string token;         // its name; empty: none was shown
  std::string method, target;
  int status = 0;
  std::size_t bytes = 0;  // of the reply's body; 0 of a stream
  double milliseconds = 0;
};

// Without the newline. What came over the network is escaped.
std::string access_log_line(const AccessLogEntry& entry, AccessLogForm form);

}  // namespace tritonsmith::gym::service

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::service::AccessLogForm> =
    names<gym::service::AccessLogForm>({{gym::service::AccessLogForm::off, "off"},
                                        {gym::service::AccessLogForm::text, "text"},
                                        {gym::service::AccessLogForm::json, "json"}});
}  // namespace tritonsmith
