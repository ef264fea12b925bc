// ReferenceProbe: the time of a task's reference. The judge times a reference beside a candidate,
// so the probe is a candidate that computes what the task does, and passes it through one kernel.
// The probe's own verdict is not shown. The functions are pure.
#pragma once

#include <string>
#include <string_view>

#include "data/verdict.h"
#include "serve/mcp/tools.h"

namespace tritonsmith::serve::mcp {

// Returns the probe's source.
std::string reference_probe(std::string_view task_source);
// Returns the times of the reference in the verdict on a probe.
ToolResult probe_result(const Verdict& verdict);

}  // namespace tritonsmith::serve::mcp
