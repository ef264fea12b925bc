// Serves as the referee's own process: `tritonsmith gym-referee [--gpu N [--lease FILE]] [--memory
// BYTES]`. It serves jobs on a socket until the other side closes it. It enters its jail once
// LibTorch has loaded its libraries, so that a plan that breaks out of LibTorch can reach nothing
// else.
//
// A request is two frames, a JSON head and a plan: {"add_task": key} with a task's plan, or
// {"judge": {...}} with a candidate's. If the job's head has "kernels", a third frame holds their
// binaries. {"calibrate": true} comes with an empty plan. A reply is one JSON frame: {"added": true},
// {"report": {...}}, {"unknown_task": key}, {"calibration": {...}} or {"error": "..."}. Before a
// report, the referee may ask the Python reference with {"reference": {...}}
// (python_reference_source.h). It waits for each answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tritonsmith::gym::referee {

struct ServeOptions {
  std::optional<int> gpu;
  std::filesystem::path lease;
  std::int64_t memory_bytes = 0;  // the largest budget of a job; the jail leaves room for 8 GiB
};

// Sends {"ready": [jail layers]} first, and returns the exit code. With a GPU's number, plans run
// on that GPU; a report that says "spent" is then the last one. With the GPU's lease
// (base/lease.h), candidates are timed alone. Without a lease, the referee does not wait for other
// programs on the GPU.
int serve_referee(int socket, const ServeOptions& options = {});

}  // namespace tritonsmith::gym::referee
