#include "gym/judge/referee_jobs.h"

#include "base/hash.h"

namespace tritonsmith::gym::judge {
namespace {

referee::Probe probe_of(const api::JudgeJob& job) {
  if (!job.self_test || !job.self_test->is_asked_again) return referee::Probe::none;
  return job.self_test->is_right ? referee::Probe::right : referee::Probe::wrong;
}

referee::RefereeJob referee_job(const JobProgress& progress, const LocalJudgeConfig& config,
                                std::string_view secret) {
  return {.task_key = progress.task_key,
          .task_source = progress.job.task.source,
          .baselines = progress.job.baselines,
          .probe = probe_of(progress.job),
          .candidate_plan = progress.plan_json,
          // The secret follows from the job's content. A job that is judged again is judged alike,
          // and other jobs draw other values.
          .secret = to_hex(hmac_sha256(secret, progress.key)),
          .trials = progress.job.trials,
          .policy = progress.job.policy,
          .comparison = progress.job.comparison,
          .strides = progress.job.strides,
          .tolerance = progress.job.task.tolerance,
          .budget = {.seconds = config.referee_seconds,
                     .memory_bytes = std::int64_t{config.referee_memory_mib} << 20}};
}

}  // namespace

RefereeWork candidate_work(const JobProgress& progress, const LocalJudgeConfig& config,
                           std::string_view secret, const std::string& task_plan) {
  const auto& test = progress.job.self_test;
  return {.serial = progress.serial,
          .backend = progress.job.backend,
          .job = referee_job(progress, config, secret),
          .task_plan = task_plan,
          .only = test ? std::optional(test->referee) : std::nullopt};
}

RefereeWork lint_work(const JobProgress& progress, const LocalJudgeConfig& config,
                      std::string_view secret, const std::string& task_plan) {
  constexpr double share = 0.25;  // of the time that a candidate's trials may take
  referee::RefereeJob job = referee_job(progress, config, secret);
  job.candidate_plan.clear();
  job.probe = referee::Probe::none;
  job.adequacy_secrets = config.adequacy_secrets;
  job.secret = to_hex(hmac_sha256(secret, "lint " + progress.lint_key));
  job.budget.seconds *= share;
  return {.lint_key = progress.lint_key,
          .backend = progress.job.backend,
          .job = std::move(job),
          .task_plan = task_plan};
}

}  // namespace tritonsmith::gym::judge
