#include "verifier/verifying_judge.h"

#include <algorithm>

namespace tritonsmith::verifier {

using gym::api::Judged;
using gym::api::JudgeJob;

namespace {

// While both the judge and the model work, the loop waits this long for each, alternately.
constexpr Milliseconds kBetweenLooks{20};

Deadline earlier(Deadline one, Deadline other) { return one.at() < other.at() ? one : other; }

}  // namespace

Status VerifyingJudge::submit(JudgeJob job) {
  const std::uint64_t id = job.id;
  TRY(judge_.submit(job));
  jobs_[id] = std::move(job);
  return ok();
}

Result<std::optional<Judged>> VerifyingJudge::next(Deadline deadline) {
  for (bool is_first = true;; is_first = false) {
    if (!finished_.empty()) {
      std::optional<Judged> first = std::move(finished_.front());
      finished_.pop_front();
      return first;
    }
    if (jobs_.empty() && reviewed_.empty()) return std::optional<Judged>();
    if (!is_first && deadline.passed()) return std::optional<Judged>();
    const bool both = !jobs_.empty() && !reviewed_.empty();
    const Deadline pause = both ? earlier(deadline, Deadline::after(kBetweenLooks)) : deadline;
    if (!jobs_.empty()) TRY(take_verdict(pause));
    if (!reviewed_.empty()) TRY(take_opinion(both ? pause : deadline));
  }
}

Status VerifyingJudge::take_verdict(Deadline deadline) {
  TRY_ASSIGN(auto judged, judge_.next(deadline));
  if (!judged) {
    if (deadline.passed()) return ok();
    return fail_by_fault("the judge gave no verdict for {} jobs", jobs_.size());
  }
  const auto at = jobs_.find(judged->id);
  if (at == jobs_.end()) return ok();  // it was cancelled
  const JudgeJob job = std::move(at->second);
  jobs_.erase(at);
  if (!is_asked_about(judged->verdict, verifier_.config().kernels)) {
    finished_.push_back(*std::move(judged));
    return ok();
  }
  reviewed_.emplace(job.id, *std::move(judged));
  return verifier_.submit(
      {.id = job.id, .task = &job.task, .kernel = job.kernel, .policy = job.policy});
}

Status VerifyingJudge::take_opinion(Deadline deadline) {
  TRY_ASSIGN(const auto opinion, verifier_.next(deadline));
  if (!opinion) return ok();
  const auto at = reviewed_.find(opinion->id);
  if (at == reviewed_.end()) return ok();
  add_opinion(*opinion, at->second.verdict);
  finished_.push_back(std::move(at->second));
  reviewed_.erase(at);
  return ok();
}

void VerifyingJudge::cancel(std::uint64_t id) {
  if (jobs_.erase(id) > 0) judge_.cancel(id);
  if (reviewed_.erase(id) > 0) verifier_.cancel(id);
  std::erase_if(finished_, [id](const Judged& each) { return each.id == id; });
}

}  // namespace tritonsmith::verifier
