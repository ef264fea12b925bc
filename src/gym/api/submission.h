// Submission: one job as it travels to `gym serve`: what to judge, how urgent it is, and who wants
// to hear of it. JSON both ways; the reader treats every byte as hostile and says in one line what
// is wrong. docs/service.md has the fields.
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
  JudgeJob job;  // its id stays with who submits; use_store is what `fresh` says
  Priority priority = Priority::normal;
  std::optional<double> deadline_seconds;  // from its arrival until its verdict
  std::string client;  // whose stream the verdict goes to; empty: nobody's, it is asked for
  std::string fresh;   // not empty: judged anew, and equal only to jobs with the same mark
};

struct SubmissionLimits {
  std::size_t source_bytes = std::size_t{1} << 20;  // of a task or a kernel
  std::size_t batch = 1000;
  std::size_t batch_bytes = std::size_t{64} << 20;  // of all tasks and kernels, after what is said
                                                    // of all jobs went into each
  Comparison comparison = Comparison::budget;       // of jobs that name none
};

// Equal jobs have equal names: a hash of all that decides the verdict, and `fresh`.
std::string job_name(const Submission& submission);

Json to_json(const Submission& submission);
Result<Submission> submission_from_json(const Json& json, const SubmissionLimits& limits = {});

// The body of POST /v1/jobs: one submission, or {"jobs": [...], and members meant for all}.
struct SubmissionBody {
  std::vector<Submission> submissions;
  bool is_batch = false;
};
Result<SubmissionBody> parse_submission_body(std::string_view body,
                                             const SubmissionLimits& limits = {});

// Up to 100 letters, digits, '.', '_' and '-'.
bool is_client_name(std::string_view name);

}  // namespace tritonsmith::gym::api

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::api::Priority> =
    names<gym::api::Priority>({{gym::api::Priority::high, "high"},
                               {gym::api::Priority::normal, "normal"},
                               {gym::api::Priority::low, "low"}});
}  // namespace tritonsmith
