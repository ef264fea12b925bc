// Judges a job beside the jobs of other referees on the same GPU, as if it had the memory for itself.
#pragma once

#include <functional>

#include "gym/device/gpu_memory.h"
#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym::referee {

// Says whether the report may follow from a lack of memory. It may say so of other reports too.
bool tells_of_memory(const RefereeReport& report);

// Calls `judge`. If memory may have been lacking that another referee kept, the report is dropped,
// and `judge` is called once more with all memory. A report of a lost context stands: no further
// job runs in it.
RefereeReport judge_with_enough_memory(device::SharedMemory& memory,
                                       const std::function<RefereeReport()>& judge,
                                       const std::function<bool()>& is_spent);

}  // namespace tritonsmith::gym::referee
