#include "gym/judge/task_lints.h"

#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace tritonsmith::gym::judge {
namespace {

constexpr int kAttempts = 2;

Finding not_linted(std::string why) {
  return {.rule = "task_not_linted", .severity = Severity::note, .message = std::move(why)};
}

}  // namespace

TaskLook task_look(const RefereeOutcome& outcome) {
  if (const auto* failure = std::get_if<RefereeFailure>(&outcome))
    return {.findings = {not_linted(failure->message)},
            .is_final = failure->kind == RefereeFailure::Kind::timeout};
  const auto& report = std::get<referee::RefereeReport>(outcome);
  TaskLook look{.findings = report.findings, .is_final = report.fault != Fault::infrastructure};
  if (report.error) look.findings.push_back(not_linted(report.error->message));
  return look;
}

std::string TaskLints::key_of(const api::JudgeJob& job) {
  return content_key(fmt::format(
      "{} {} {} {}", name_of(job.comparison), name_of(job.backend),
      job.task.tolerance ? fmt::format("{:a}", *job.task.tolerance) : "-", job.task.source));
}

bool TaskLints::begin(const std::string& key) {
  if (!known_.contains(key) && known_.size() >= kKept)
    std::erase_if(known_, [](const auto& entry) { return entry.second.is_known; });
  Look& look = known_[key];
  if (look.asked) return false;
  look.asked = true;
  look.is_known = false;
  return true;
}

const std::vector<Finding>* TaskLints::await(const std::string& key, std::uint64_t serial) {
  Look& look = known_.at(key);
  if (look.is_known) return &look.findings;
  look.waiting.push_back(serial);
  return nullptr;
}

TaskLints::Heard TaskLints::hear(const std::string& key, const RefereeOutcome& outcome) {
  Look& look = known_.at(key);
  TaskLook told = task_look(outcome);
  if (!told.is_final && ++look.failures < kAttempts) return {.ask_again = true, .waiting = {}};
  look.is_known = true;
  look.asked = told.is_final;  // if not final, the next candidate's job asks once more
  look.findings = std::move(told.findings);
  return {.ask_again = false, .waiting = std::exchange(look.waiting, {})};
}

}  // namespace tritonsmith::gym::judge
