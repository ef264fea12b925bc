// Judges many jobs and waits for all of them.
#pragma once

#include <vector>

#include "gym/api/judge.h"

namespace tritonsmith::gym::api {

// Returns the verdicts in the order of the jobs, whose ids this call chooses. No other job of the
// judge may be in flight. Fails when the judge gives fewer verdicts than jobs.
Result<std::vector<Verdict>> judge_all(Judge& judge, std::vector<JudgeJob> jobs);

}  // namespace tritonsmith::gym::api
