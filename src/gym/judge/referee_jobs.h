// Makes the jobs that a judge gives to its referees, from the job of its caller. Pure functions.
#pragma once

#include <string_view>

#include "gym/judge/job_progress.h"
#include "gym/judge/local_judge.h"
#include "gym/judge/referee_queue.h"

namespace tritonsmith::gym::judge {

// `secret` is the judge's own, and `task_plan` the plan of the job's task. Kernels are added by the
// caller, if the plan runs on a GPU.
RefereeWork candidate_work(const JobProgress& progress, const LocalJudgeConfig& config,
                           std::string_view secret, const std::string& task_plan);
// Returns the work of linting the job's task under the key progress.lint_key.
RefereeWork lint_work(const JobProgress& progress, const LocalJudgeConfig& config,
                      std::string_view secret, const std::string& task_plan);

}  // namespace tritonsmith::gym::judge
