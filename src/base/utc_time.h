// Formats the time of day, for records, logs and protocols.
#pragma once

#include <cstdint>
#include <string>

namespace tritonsmith {

// Now, to the second: "2026-11-23T18:05:00Z".
std::string utc_time();

// Milliseconds since 1970, now; and such a time as "2026-11-23T18:05:00.123Z".
std::int64_t unix_milliseconds();
std::string utc_time(std::int64_t unix_ms);

}  // namespace tritonsmith
