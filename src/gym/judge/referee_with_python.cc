#include "gym/judge/referee_with_python.h"

#include <algorithm>

namespace tritonsmith::gym::judge {
namespace {

// The candidate's verdict does not depend on the baseline.
Finding baseline_failed(const Error& error) {
  return {.rule = "baseline_failed", .severity = Severity::note, .message = error.message};
}

}  // namespace

RefereeOutcome RefereeWithPython::judge(const referee::RefereeJob& job,
                                        const std::string& task_plan) {
  RefereeOutcome outcome = referee_->judge(job, task_plan);
  if (auto* report = std::get_if<referee::RefereeReport>(&outcome);
      report != nullptr && report->correct && report->timing)
    time_otherwise(job, *report);
  return outcome;
}

void RefereeWithPython::time_otherwise(const referee::RefereeJob& job,
                                       referee::RefereeReport& report) {
  const auto note = [&](const Error& error) { report.findings.push_back(baseline_failed(error)); };
  if (report.reference ==
      ReferenceKind::python) {  // nothing was replayed, so the Python time counts
    const auto eager = python_reference_.time(job.task_source, "eager");
    if (eager)
      report.timing->reference = *eager;
    else
      note(eager.error());
  }
  std::vector<std::string> wanted = baselines_;
  for (const std::string& name : job.baselines)
    if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
  for (const std::string& name : wanted) {
    const auto timing = python_reference_.time(job.task_source, name);
    if (timing)
      report.baselines.emplace_back(name, *timing);
    else
      note(timing.error());
  }
}

void RefereeWithPython::interrupt() {
  referee_->interrupt();
  python_reference_.interrupt();
}

}  // namespace tritonsmith::gym::judge
