// How much memory this process may still take: what budgets of large work follow from.
#pragma once

#include <cstdint>
#include <string_view>

namespace tritonsmith {

// What the machine has free or can free, and no more than the control group's limit leaves. 0 where
// the machine does not tell.
std::int64_t available_memory_bytes();

// The line MemAvailable of /proc/meminfo; 0: there is none. Pure.
std::int64_t memory_available_in(std::string_view meminfo);
// What a control group's memory.max and memory.current leave; none: no limit. Pure.
std::int64_t memory_left_of(std::string_view limit, std::string_view current, std::int64_t most);

}  // namespace tritonsmith
