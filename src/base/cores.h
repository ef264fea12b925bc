// How many processor cores this process may keep busy: what sizes of pools follow from by default.
#pragma once

#include <string_view>

namespace tritonsmith {

// Those it may run on, and no more than its control group has time for. At least 1.
int usable_cores();

// What a control group's limit comes to, in whole cores, rounded up; 0: no limit. `text`: of
// cpu.max, as "150000 100000" or "max 100000". Pure.
int cores_of_quota(std::string_view text);

}  // namespace tritonsmith
