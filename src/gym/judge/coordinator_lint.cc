// The part of a Coordinator that has tasks linted and lets verdicts wait for the findings.
#include "base/hash.h"
#include "gym/judge/coordinator.h"

namespace tritonsmith::gym::judge {

RefereeQueue& Coordinator::work_for(Backend backend) {
  return backend == Backend::replay ? replay_work_ : referee_work_;
}

// The linter begins while the task's first candidate is captured.
void Coordinator::lint(JobProgress& progress) {
  constexpr double share = 0.25;  // of the time that a candidate's trials may take
  progress.lint_key = TaskLints::key_of(progress.job);
  if (!lints_.begin(progress.lint_key)) return;
  referee::RefereeJob job = referee_job(progress);
  job.candidate_plan.clear();
  job.probe = referee::Probe::none;
  job.adequacy_secrets = config_.adequacy_secrets;
  job.secret = to_hex(hmac_sha256(parts_.secret, "lint " + progress.lint_key));
  job.budget.seconds *= share;
  work_for(progress.job.backend)
      .push({.lint_key = progress.lint_key,
             .backend = progress.job.backend,
             .job = std::move(job),
             .task_plan = tasks_.at(content_key(progress.job.task.source)).json});
}

void Coordinator::hear_of_task(Refereed& event) {
  const TaskLints::Heard heard = lints_.hear(event.work.lint_key, event.outcome);
  if (heard.ask_again) work_for(event.work.backend).push(std::move(event.work));
  for (const std::uint64_t serial : heard.waiting) {
    const auto at = running_.find(serial);
    if (at == running_.end()) continue;
    JobProgress progress = std::move(at->second);
    running_.erase(at);
    give_verdict(std::move(progress));
  }
}

void Coordinator::give_verdict(JobProgress progress) {
  const std::uint64_t serial = progress.serial;
  JobProgress& kept =
      // a running job keeps its task's plan
      running_.emplace(serial, std::move(progress)).first->second;
  if (!lints_.has_begun(kept.lint_key)) lint(kept);
  const std::vector<Finding>* findings = lints_.await(kept.lint_key, serial);
  if (findings == nullptr) return;
  JobProgress done = std::move(kept);
  running_.erase(serial);
  Verdict verdict = verdict_of(done, context_);
  verdict.findings.insert(verdict.findings.end(), findings->begin(), findings->end());
  finish(std::move(done), std::move(verdict));
}

}  // namespace tritonsmith::gym::judge
