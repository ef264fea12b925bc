// KernelGYM's POST /evaluate, so that its users switch by changing a URL: its request becomes a
// submission, and a verdict its response. Pure. docs/service.md says what differs.
#pragma once

#include <string>
#include <string_view>

#include "gym/server/docket.h"

namespace tritonsmith::gym {

struct KernelGymRequest {
  std::string task_id;
  Submission submission;
  double timeout_seconds = 300;
};
// One line that names the field at fault. Fields that mean nothing here are passed over.
Result<KernelGymRequest> parse_kernelgym_request(std::string_view body,
                                                 const SubmissionLimits& limits = {});

// EvaluationResponse of a job that is done, cancelled, or not yet done.
Json kernelgym_response(const std::string& task_id, const JobView& job);
// TaskStatusResponse.
Json kernelgym_status(const std::string& task_id, const JobView& job);

}  // namespace tritonsmith::gym
