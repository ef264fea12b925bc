// The time of day as logs and protocols write it.
#pragma once

#include <cstdint>
#include <string>

namespace tritonsmith {

// Milliseconds since 1970.
std::int64_t unix_milliseconds();
// "2026-11-23T18:54:46.123Z".
std::string utc_time(std::int64_t unix_ms);

}  // namespace tritonsmith
