// Answers KernelGYM's POST /evaluate, so that its users switch by changing a URL. Its request
// becomes a submission, and a verdict its response. Pure. docs/service.md lists the differences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

// The reference that speed-ups compare with: the task as it is written, or compiled by
// torch.compile.
enum class ReferenceBackend { eager, torch_compile };

struct KernelGymRequest {
  std::string task_id;
  ReferenceBackend reference = ReferenceBackend::eager;
  api::Submission submission;
  double timeout_seconds = 300;
};
// Fails with one line that names the wrong field. Fields without a meaning here are ignored.
Result<KernelGymRequest> parse_kernelgym_request(std::string_view body,
                                                 const api::SubmissionLimits& limits = {});

// Returns the names by which /results finds the job: the task_id, and for a compiled reference also
// compiled_alias, which points to the same job (no eager job is equal to it).
std::vector<std::string> aliases_of(const KernelGymRequest& request);
std::string compiled_alias(const std::string& task_id);

// Returns KernelGYM's EvaluationResponse for a job that is done, cancelled, or not yet done.
Json kernelgym_response(const std::string& task_id, const JobView& job, ReferenceBackend reference);
// Returns KernelGYM's TaskStatusResponse.
Json kernelgym_status(const std::string& task_id, const JobView& job);

}  // namespace tritonsmith::gym::service
