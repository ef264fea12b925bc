#include "gym/service/http/access_log.h"

#include "base/json.h"
#include "base/utc_time.h"

namespace tritonsmith::gym::service {
namespace {

// Escapes control characters, so that a client cannot forge lines of the log or control the
// terminal that shows it.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c > ' ' && c < 127 && c != '"' && c != '\\')
      safe += c;
    else
      safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return safe;
}

}  // namespace

std::string access_log_line(const AccessLogEntry& entry, AccessLogForm form) {
  if (form == AccessLogForm::json)
    return to_line({{"time", utc_time(entry.unix_ms)},
                    {"address", entry.address},
                    {"token", entry.token},
                    {"method", escaped(entry.method)},
                    {"target", escaped(entry.target)},
                    {"status", entry.status},
                    {"bytes", entry.bytes},
                    {"milliseconds", entry.milliseconds}});
  return fmt::format("{} {} {} \"{} {}\" {} {} B {:.1f} ms", utc_time(entry.unix_ms), entry.address,
                     entry.token.empty() ? "-" : entry.token, escaped(entry.method),
                     escaped(entry.target), entry.status, entry.bytes, entry.milliseconds);
}

}  // namespace tritonsmith::gym::service
