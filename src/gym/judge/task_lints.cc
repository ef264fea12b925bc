#include "gym/judge/task_lints.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "gym/referee/protocol/not_linted.h"

namespace tritonsmith::gym::judge {
namespace {

constexpr int kAttempts = 2;

// Names the first faults that trials do not tell, and how many more there are.
Finding told_adequacy(const Adequacy& adequacy) {
  constexpr std::size_t named = 3;
  std::string message = "adequacy of the trials for this task: " + summary_of(adequacy);
  const std::vector<std::string> complaints = complaints_of(adequacy);
  for (std::size_t k = 0; k < std::min(named, complaints.size()); ++k)
    message += "; " + complaints[k];
  if (complaints.size() > named) message += fmt::format("; {} more", complaints.size() - named);
  return {.rule = "task_adequacy", .severity = Severity::note, .message = std::move(message)};
}

}  // namespace

std::optional<Finding> poor_adequacy(const Adequacy& adequacy) {
  const auto share = share_told(adequacy);
  if (!share || *share >= kPoorShare) return std::nullopt;
  return Finding{
      .rule = "task_poorly_tested",
      .severity = Severity::warn,
      .message = "the judge's trials would accept some wrong kernels: " + summary_of(adequacy)};
}

TaskLook task_look(const RefereeOutcome& outcome) {
  if (const auto* failure = std::get_if<RefereeFailure>(&outcome))
    return {.findings = {referee::not_linted(failure->message)},
            .is_final = failure->kind == RefereeFailure::Kind::timeout};
  const auto& report = std::get<referee::RefereeReport>(outcome);
  TaskLook look{.findings = report.findings, .is_final = report.fault != Fault::infrastructure};
  if (report.error) look.findings.push_back(referee::not_linted(report.error->message));
  if (report.adequacy) look.findings.push_back(told_adequacy(*report.adequacy));
  if (report.adequacy)
    if (auto poor = poor_adequacy(*report.adequacy)) look.findings.push_back(*std::move(poor));
  return look;
}

std::string TaskLints::key_of(const api::JudgeJob& job) {
  return content_key(fmt::format(
      "{} {} {} {}", name_of(job.comparison), name_of(job.backend),
      job.task.tolerance ? fmt::format("{:a}", *job.task.tolerance) : "-", job.task.source));
}

bool TaskLints::begin(const std::string& key) {
  if (asked_.contains(key)) return false;
  const TaskLook* known = known_.find(key);
  if (known != nullptr && known->is_final) return false;
  // After failures the infrastructure gets one more attempt.
  asked_[key].failures = known != nullptr ? kAttempts - 1 : 0;
  return true;
}

const std::vector<Finding>* TaskLints::await(const std::string& key, std::uint64_t serial) {
  if (const auto at = asked_.find(key); at != asked_.end()) {
    at->second.waiting.push_back(serial);
    return nullptr;
  }
  const TaskLook* known = known_.find(key);
  CHECK(known != nullptr, "the findings of a task were never asked for");
  return &known->findings;
}

TaskLints::Heard TaskLints::hear(const std::string& key, const RefereeOutcome& outcome) {
  Question& question = asked_.at(key);
  TaskLook told = task_look(outcome);
  if (!told.is_final && ++question.failures < kAttempts) return {.ask_again = true, .waiting = {}};
  Heard heard{.ask_again = false, .waiting = std::move(question.waiting)};
  asked_.erase(key);
  std::size_t bytes = 0;
  for (const Finding& finding : told.findings)
    bytes += sizeof(finding) + finding.rule.size() + finding.message.size();
  known_.add(key, std::move(told), bytes);
  return heard;
}

}  // namespace tritonsmith::gym::judge
