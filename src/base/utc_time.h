// The time of day, for records.
#pragma once

#include <string>

namespace tritonsmith {

// Now, as "2026-11-23T18:05:00Z".
std::string utc_time();

}  // namespace tritonsmith
