// KernelGYM's POST /evaluate, so that its users switch by changing a URL: its request becomes a
// submission, and a verdict its response. Pure. docs/service.md says what differs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

// What their speedups are against: the task as it is written, or as torch.compile makes it.
enum class ReferenceBackend { eager, torch_compile };

struct KernelGymRequest {
  std::string task_id;
  ReferenceBackend reference = ReferenceBackend::eager;
  api::Submission submission;
  double timeout_seconds = 300;
};
// One line that names the field at fault. Fields that mean nothing here are passed over.
Result<KernelGymRequest> parse_kernelgym_request(std::string_view body,
                                                 const api::SubmissionLimits& limits = {});

// What /results finds its job by: the task_id; besides, where the reference was to be compiled,
// compiled_alias, which points to the same job (no eager one is equal to it).
std::vector<std::string> aliases_of(const KernelGymRequest& request);
std::string compiled_alias(const std::string& task_id);

// EvaluationResponse of a job that is done, cancelled, or not yet done.
Json kernelgym_response(const std::string& task_id, const JobView& job, ReferenceBackend reference);
// TaskStatusResponse.
Json kernelgym_status(const std::string& task_id, const JobView& job);

}  // namespace tritonsmith::gym::service
