// Submission: what a client sends to `gym serve` for one job. It has the job, its priority and the
// client that receives the verdict. Its JSON comes from the network, so the reader treats every
// byte as hostile and reports an error in one line. docs/service.md has the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "gym/api/judge.h"

namespace tritonsmith::gym::api {

enum class Priority { high, normal, low };

struct Submission {
  // The id stays with the client and is not sent; `fresh` decides use_store.
  JudgeJob job;
  Priority priority = Priority::normal;
  std::optional<double> deadline_seconds;  // from the job's arrival to its verdict
  // The client whose event stream receives the verdict. If it is empty, the client must ask for it.
  std::string client;
  // If not empty, the service judges anew, and only jobs with the same mark count as equal.
  std::string fresh;
};

struct SubmissionLimits {
  std::size_t source_bytes = std::size_t{1} << 20;  // of a task or a kernel
  std::size_t batch = 1000;
  // The sum over all tasks and kernels of a batch. A task that all jobs share counts for each job.
  std::size_t batch_bytes = std::size_t{64} << 20;
  Comparison comparison = Comparison::budget;  // for jobs that name none
};

// Returns the class of devices that the job needs; empty: any.
std::string device_class(const JudgeJob& job);

// Returns a hash of `fresh` and all that decides the verdict, so that equal jobs have equal names.
std::string job_name(const Submission& submission);

Json to_json(const Submission& submission);
Result<Submission> submission_from_json(const Json& json, const SubmissionLimits& limits = {});

// The body of POST /v1/jobs: one submission, or {"jobs": [...]} with members that apply to all.
struct SubmissionBody {
  std::vector<Submission> submissions;
  bool is_batch = false;
};
Result<SubmissionBody> parse_submission_body(std::string_view body,
                                             const SubmissionLimits& limits = {});

// True for 1 to 100 letters, digits, '.', '_' and '-'.
bool is_client_name(std::string_view name);

}  // namespace tritonsmith::gym::api

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::api::Priority> =
    names<gym::api::Priority>({{gym::api::Priority::high, "high"},
                               {gym::api::Priority::normal, "normal"},
                               {gym::api::Priority::low, "low"}});
}  // namespace tritonsmith
