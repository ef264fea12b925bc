// The part of a Coordinator that has tasks looked at, and lets verdicts wait for it.
#include "base/hash.h"
#include "gym/schedule/coordinator.h"

namespace tritonsmith::gym {

RefereeQueue& Coordinator::work_for(Backend backend) {
  return backend == Backend::replay ? replay_work_ : referee_work_;
}

// Begins while the first candidate is captured.
void Coordinator::lint(Judging& judging) {
  constexpr double share = 0.25;  // of what a candidate's trials may take
  judging.lint_key = TaskLints::key_of(judging.job);
  if (!lints_.begin(judging.lint_key)) return;
  RefereeJob job = referee_job(judging);
  job.candidate_plan.clear();
  job.probe = Probe::none;
  job.secret = to_hex(hmac_sha256(parts_.secret, "lint " + judging.lint_key));
  job.budget.seconds *= share;
  work_for(judging.job.backend)
      .push({.lint_key = judging.lint_key,
             .backend = judging.job.backend,
             .job = std::move(job),
             .task_plan = tasks_.at(content_key(judging.job.task.source)).json});
}

void Coordinator::hear_of_task(Refereed& event) {
  const TaskLints::Heard heard = lints_.hear(event.work.lint_key, event.outcome);
  if (heard.ask_again) work_for(event.work.backend).push(std::move(event.work));
  for (const std::uint64_t serial : heard.waiting) {
    const auto at = running_.find(serial);
    if (at == running_.end()) continue;
    Judging judging = std::move(at->second);
    running_.erase(at);
    give_verdict(std::move(judging));
  }
}

void Coordinator::give_verdict(Judging judging) {
  const std::uint64_t serial = judging.serial;
  Judging& kept = running_.emplace(serial, std::move(judging)).first->second;  // and so is its task
  if (!lints_.has_begun(kept.lint_key)) lint(kept);
  const std::vector<Finding>* findings = lints_.await(kept.lint_key, serial);
  if (findings == nullptr) return;
  Judging done = std::move(kept);
  running_.erase(serial);
  Verdict verdict = verdict_of(done, context_);
  verdict.findings.insert(verdict.findings.end(), findings->begin(), findings->end());
  finish(std::move(done), std::move(verdict));
}

}  // namespace tritonsmith::gym
