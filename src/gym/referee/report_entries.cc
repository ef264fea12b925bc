#include "gym/referee/report_entries.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::gym::referee {

RefereeReport ended(ErrorClass error_class, std::string message, Fault fault) {
  RefereeReport report;
  report.error = VerdictError{.error_class = error_class, .message = std::move(message)};
  report.fault = fault;
  return report;
}

void add_time(RefereeReport& report, const std::string& name, double milliseconds) {
  auto at = std::ranges::find(report.stage_ms, name, &std::pair<std::string, double>::first);
  if (at == report.stage_ms.end()) at = report.stage_ms.insert(at, {name, 0.0});
  at->second += milliseconds;
}

void add_findings(RefereeReport& report, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    if (std::ranges::find(report.findings, finding) == report.findings.end())
      report.findings.push_back(finding);
}

void add_trial(RefereeReport& report, const trial::TrialResult& result) {
  add_time(report, "draw", result.draw_ms);
  add_time(report, "evaluate", result.candidate_ms);
  add_time(report, "reference", result.reference_ms);
  add_time(report, "compare", result.compare_ms);
  // The element that shows a race first differs from trial to trial.
  for (const Finding& finding : result.findings)
    if (std::ranges::none_of(report.findings, [&](const Finding& known) {
          return known.rule == finding.rule && known.line == finding.line;
        }))
      report.findings.push_back(finding);
  Numerics& numerics = *report.numerics;
  numerics.max_abs = std::max(numerics.max_abs, result.numerics.max_abs);
  numerics.max_rel = std::max(numerics.max_rel, result.numerics.max_rel);
  numerics.tolerance = std::max(numerics.tolerance, result.numerics.tolerance);
  numerics.tolerance_extension =
      std::max(numerics.tolerance_extension, result.numerics.tolerance_extension);
}

// Makes an error of the reference one of the task. Its line belongs to the task's file. As the error's
// line it would point into the candidate's. The class task_failed says by itself that the task fails.
void name_the_task(VerdictError& error) {
  if (error.error_class == ErrorClass::exception || error.error_class == ErrorClass::bad_plan)
    error.error_class = ErrorClass::task_failed;
  std::string location = error.line > 0 ? fmt::format("line {}", error.line) : "";
  if (error.error_class != ErrorClass::task_failed)
    location = "the task itself" + (location.empty() ? "" : ", " + location);
  if (!location.empty()) error.message = location + ": " + error.message;
  error.line = 0;
}

bool take_failure(RefereeReport& report, const trial::TrialResult& result) {
  if (result.candidate_stop) {
    report.error = result.candidate_stop->error;
    report.fault = result.candidate_stop->fault;
    return true;
  }
  if (result.reference_stop) {
    report.error = result.reference_stop->error;
    report.fault = result.reference_stop->fault;
    if (report.fault == Fault::infrastructure) return true;
    name_the_task(*report.error);
    report.fault = Fault::none;
    return true;
  }
  if (result.difference) {
    report.error = result.difference;
    report.fault = Fault::candidate;
    return true;
  }
  return false;
}

bool ends_job(RefereeReport& report, const trial::TrialResult& result, Deadline deadline) {
  if (!take_failure(report, result)) return false;
  report.deadline_hit = report.fault == Fault::none && deadline.passed();
  return true;
}

Finding missing_oracle_note(const std::string& why) {
  return {.rule = "judged_without_oracle",
          .severity = Severity::note,
          .message = why + ": the plain tolerance alone decides"};
}

}  // namespace tritonsmith::gym::referee
