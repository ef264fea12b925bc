// Measures how much memory this process may still take. Large computations take their budgets from
// this amount.
#pragma once

#include <cstdint>
#include <string_view>

namespace tritonsmith {

// Returns the memory in bytes that the machine has free or can free, limited by what the control
// group leaves. Returns 0 if the machine does not report it.
std::int64_t available_memory_bytes();

// Reads the line MemAvailable of /proc/meminfo, in bytes. Returns 0 if there is no such line. This
// function is pure.
std::int64_t memory_available_in(std::string_view meminfo);
// Returns the bytes that a control group's memory.max (`limit`) and memory.current (`current`)
// leave, at most `most`. A group without a limit leaves `most`. This function is pure.
std::int64_t memory_left_of(std::string_view limit, std::string_view current, std::int64_t most);

}  // namespace tritonsmith
