// Counts the processor cores that this process may keep busy. Pools take their default sizes from
// this number.
#pragma once

#include <string_view>

namespace tritonsmith {

// Returns the cores of the process's affinity mask, limited by its control group's CPU quota. The
// result is at least 1.
int usable_cores();

// Converts a control group's CPU quota into whole cores, rounded up. `text` is the content of
// cpu.max: "150000 100000" or "max 100000". 0 means no limit. This function is pure.
int cores_of_quota(std::string_view text);

}  // namespace tritonsmith
