// Puts numbers of things into words, for messages. The functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tritonsmith {

// Returns the noun for so many things: "job" for one, else "jobs", "launches" or "tries".
std::string noun_for(std::int64_t count, std::string_view noun);

// Returns "0 jobs", "1 job", "2 launches" or "12,000 jobs".
std::string counted(std::int64_t count, std::string_view noun);

// Return the verb for so many things: "is" or "are", "was" or "were".
std::string_view are_for(std::int64_t count);
std::string_view were_for(std::int64_t count);

// Return the number, the noun and the verb: "1 job is" or "2 jobs are", "1 job was" or "2 jobs were".
std::string counted_are(std::int64_t count, std::string_view noun);
std::string counted_were(std::int64_t count, std::string_view noun);

// Returns the number with the word "no" for 0: "no spills".
std::string counted_or_no(std::int64_t count, std::string_view noun);

}  // namespace tritonsmith
