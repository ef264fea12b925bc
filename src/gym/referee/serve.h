// The referee's own process: `tritonsmith gym-referee [--gpu N [--lease FILE]] [--memory BYTES]`.
// It serves jobs on a socket until the other side closes it. It enters its jail once LibTorch is
// warm, so that a plan which breaks out of LibTorch finds nothing to break into.
//
// A request is two frames, a JSON head and a plan: {"add_task": key} with a task's, {"judge":
// {...}} with a candidate's. If the job's head says "kernels", a third frame has their binaries.
// Replies are one JSON frame: {"added": true}, {"report": {...}},
// {"unknown_task": key}, {"error": "..."}. Before a report there may be questions to the
// Python reference, {"reference": {...}} (python_reference_source.h); each waits for its answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tritonsmith::gym::referee {

struct ServeOptions {
  std::optional<int> gpu;
  std::filesystem::path lease;
  std::int64_t memory_bytes = 0;  // the largest budget of a job; its jail leaves room for 8 GiB
};

// Sends {"ready": [jail layers]} first, and returns the exit code. With a GPU's number, plans run
// there; a report that says "spent" is then the last. With the GPU's lease (base/lease.h),
// candidates are timed alone. Without one, others who compute there are not waited for.
int serve_referee(int socket, const ServeOptions& options = {});

}  // namespace tritonsmith::gym::referee
