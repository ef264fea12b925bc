// Reasons to end a job before its first trial. Each function looks at the plans alone and returns
// the report of the refused job, or nothing.
#pragma once

#include <optional>

#include "gym/device/device.h"
#include "gym/plan/plan.h"
#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym::referee {

// Refuses a job that compares as KernelBench does, if KernelBench has no tolerance for one of the
// task's dtypes. No verdict of KernelBench could be compared with this one.
std::optional<RefereeReport> beyond_kernelbench(const RefereeJob& job, const plan::Plan& task);
// Refuses a candidate whose plan has an operator that the judge does not run for candidates.
std::optional<RefereeReport> unsafe(const RefereeJob& job, const plan::Plan& task,
                                    const plan::Plan& candidate);
// Refuses a candidate with atomic operations whose scope is too narrow. On a GPU these give a wrong
// value, do not end, or show nothing, at random.
std::optional<RefereeReport> racing(const plan::Plan& candidate);
// Refuses a candidate with streams of which no trial is needed to show that they race.
std::optional<RefereeReport> racing_streams(const plan::Plan& candidate);
// Refuses a job whose two sides do not fit into the memory.
std::optional<RefereeReport> too_large(const RefereeJob& job, const plan::Plan& task,
                                       const plan::Plan& candidate, const device::Device& device);

// Says whether the reference in float64 fits into the memory, whatever the candidate needs.
bool has_room_for_oracle(const RefereeJob& job, const plan::Plan& task,
                         const device::Device& device);

}  // namespace tritonsmith::gym::referee
