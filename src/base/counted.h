// Numbers of things in words, for messages. The functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tritonsmith {

// Returns the noun for so many things: "job" for one, else "jobs", "launches" or "tries".
std::string noun_for(std::int64_t count, std::string_view noun);

// Returns "0 jobs", "1 job", "2 launches" or "12,000 jobs".
std::string counted(std::int64_t count, std::string_view noun);

// Returns the same with the word "no" for 0: "no spills".
std::string counted_or_no(std::int64_t count, std::string_view noun);

}  // namespace tritonsmith
