// FakeJudge: a Judge for tests of other folders. A function of the test answers each job, at once
// and in the order of submission. The judge remembers the jobs that it received. It uses no
// threads, no processes and no clock.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "gym/api/judge.h"

namespace tritonsmith::gym::api {

class FakeJudge : public Judge {
 public:
  using Answer = std::function<Verdict(const JudgeJob&)>;

  explicit FakeJudge(Answer answer) : answer_(std::move(answer)) {}

  Status submit(JudgeJob job) override {
    jobs_.push_back(job);
    if (failure_) return tl::unexpected(*failure_);
    Verdict verdict = answer_(job);
    verdict.task_id = job.task.id;
    verdict.policy = job.policy;
    verdict.comparison = job.comparison;
    finished_.push_back({.id = job.id, .verdict = std::move(verdict)});
    return ok();
  }

  Result<std::optional<Judged>> next(Deadline) override {
    if (failure_) return tl::unexpected(*failure_);
    if (finished_.empty()) return std::optional<Judged>();
    std::optional<Judged> first = std::move(finished_.front());
    finished_.pop_front();
    return first;
  }

  void cancel(std::uint64_t id) override {
    cancelled_.push_back(id);
    std::erase_if(finished_, [&](const Judged& judged) { return judged.id == id; });
  }

  // From now on submit and next fail with this error, as a gym that broke down does.
  void break_down(Error error) { failure_ = std::move(error); }

  const std::vector<JudgeJob>& jobs() const { return jobs_; }
  const std::vector<std::uint64_t>& cancelled() const { return cancelled_; }

 private:
  Answer answer_;
  std::deque<Judged> finished_;
  std::vector<JudgeJob> jobs_;
  std::vector<std::uint64_t> cancelled_;
  std::optional<Error> failure_;
};

// Ready answers: the gym's verdict on a kernel that is right, or on one that stopped after `stage`.
inline Verdict accepted_verdict() {
  Verdict verdict;
  verdict.stage = Stage::correct;
  verdict.compiled = verdict.correct = verdict.accepted = true;
  verdict.numerics = Numerics{.max_abs = 0, .max_rel = 0, .trials = 3};
  return verdict;
}

inline Verdict failed_verdict(Stage stage, ErrorClass error_class) {
  Verdict verdict;
  verdict.stage = stage;
  verdict.compiled = stage >= Stage::compiled;
  verdict.fault = Fault::candidate;
  verdict.error = VerdictError{.error_class = error_class, .message = "as the test says"};
  return verdict;
}

}  // namespace tritonsmith::gym::api
