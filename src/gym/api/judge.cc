#include "gym/api/judge.h"

#include <set>

namespace tritonsmith::gym::api {

Status check_baselines(const std::vector<std::string>& baselines) {
  std::set<std::string_view> seen;
  for (const std::string& name : baselines) {
    if (name != "eager" && name != "torch_compile")
      return fail("baselines: `{}` is neither eager nor torch_compile", name);
    if (!seen.insert(name).second) return fail("baselines: `{}` is there twice", name);
  }
  return ok();
}

// Fails if KernelBench has no such comparison, since the job's numbers could not be compared with
// KernelBench's.
Status check_job(const JudgeJob& job) {
  if (job.comparison == Comparison::allclose && job.task.tolerance)
    return fail(
        "comparison allclose has KernelBench's tolerance and no other: leave out the task's "
        "tolerance, or compare by budget");
  const bool is_for_cpu = job.device == "cpu";
  if (!job.device.empty() && is_for_cpu != (job.backend == Backend::evaluate))
    return fail("device cpu belongs to backend evaluate, and other devices to auto or replay");
  return check_baselines(job.baselines);
}

}  // namespace tritonsmith::gym::api
