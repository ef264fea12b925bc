#include "gym/schedule/baseline_referee.h"

namespace tritonsmith::gym {
namespace {

Finding baseline_finding(const std::string& name, const Result<Timing>& measured,
                         const Timing& candidate) {
  if (!measured)  // the candidate's verdict stands without it
    return {
        .rule = "baseline_failed", .severity = Severity::note, .message = measured.error().message};
  const double times = candidate.median > 0 ? measured->median / candidate.median : 0;
  return {.rule = "baseline_" + name,
          .severity = Severity::note,
          .message = fmt::format(
              "{:.5f} ms (median of {}; mean {:.5f}, p10 {:.5f}, p90 {:.5f}), {:.3f} times the "
              "kernel's",
              measured->median, measured->n, measured->mean, measured->p10, measured->p90, times)};
}

}  // namespace

RefereeOutcome BaselineReferee::judge(const RefereeJob& job, const std::string& task_plan) {
  RefereeOutcome outcome = referee_->judge(job, task_plan);
  auto* report = std::get_if<RefereeReport>(&outcome);
  if (report == nullptr || !report->correct || !report->timing) return outcome;
  for (const std::string& name : names_)
    report->findings.push_back(
        baseline_finding(name, shell_.time(job.task_source, name), report->timing->candidate));
  return outcome;
}

void BaselineReferee::interrupt() {
  referee_->interrupt();
  shell_.interrupt();
}

}  // namespace tritonsmith::gym
