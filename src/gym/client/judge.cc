#include "gym/client/judge.h"

namespace tritonsmith::gym {

// Its numbers could not be laid beside KernelBench's.
Status check_job(const JudgeJob& job) {
  if (job.comparison == Comparison::allclose && job.task.tolerance)
    return fail(
        "comparison allclose has KernelBench's tolerance and no other: leave out the task's "
        "tolerance, or compare by budget");
  return ok();
}

}  // namespace tritonsmith::gym
