#include "gym/service/service_metrics.h"

#include <algorithm>

namespace tritonsmith::gym::service {
namespace {

// Wrong: the kernel ran, and its outputs are not what the task asks for. Failed: it did
// not get so far.
JobOutcome outcome_of(const Verdict& verdict) {
  if (verdict.fault == Fault::infrastructure) return JobOutcome::infrastructure;
  if (verdict.accepted) return JobOutcome::accepted;
  if (verdict.correct) return JobOutcome::refused;
  if (verdict.fault != Fault::candidate) return JobOutcome::undecided;
  return verdict.stage >= Stage::ran ? JobOutcome::wrong : JobOutcome::failed;
}

std::string heading(const char* name, const char* type, const char* help) {
  return fmt::format("# HELP tritonsmith_{0} {2}\n# TYPE tritonsmith_{0} {1}\n", name, type, help);
}

std::string single(const char* name, const char* type, const char* help, double value) {
  return heading(name, type, help) + fmt::format("tritonsmith_{} {}\n", name, value);
}

}  // namespace

void ServiceMetrics::count_submission(std::size_t jobs, std::size_t repeats) {
  const std::lock_guard lock(mutex_);
  submitted_ += jobs;
  repeats_ += repeats;
}

void ServiceMetrics::count_verdict(const Verdict& verdict, double seconds) {
  const std::lock_guard lock(mutex_);
  ++verdicts_[outcome_of(verdict)];
  const auto* bound = std::ranges::lower_bound(kBounds, seconds);
  ++seconds_.at(static_cast<std::size_t>(bound - kBounds.begin()));
  seconds_sum_ += seconds;
  if (verdict.from_store) return;
  for (const auto& [stage, ms] : verdict.stage_ms) stage_seconds_[stage] += ms / 1e3;
}

void ServiceMetrics::begin_judge() {
  const std::lock_guard lock(mutex_);
  earlier_devices_ = all_devices();
  devices_.clear();
}

void ServiceMetrics::set_devices(const std::vector<api::DeviceUse>& devices) {
  const std::lock_guard lock(mutex_);
  devices_.clear();
  for (const api::DeviceUse& device : devices) devices_[device.name] = device;
}

std::map<std::string, api::DeviceUse> ServiceMetrics::all_devices() const {
  std::map<std::string, api::DeviceUse> all = earlier_devices_;
  for (const auto& [name, use] : devices_) {
    api::DeviceUse& sum = all[name];
    sum.verdicts += use.verdicts;
    sum.busy_seconds += use.busy_seconds;
    sum.restarts += use.restarts;
  }
  return all;
}

void ServiceMetrics::set_drift(const std::string& device, double share) {
  const std::lock_guard lock(mutex_);
  drift_[device] = share;
}

std::map<JobOutcome, std::uint64_t> ServiceMetrics::verdicts() const {
  const std::lock_guard lock(mutex_);
  return verdicts_;
}

std::string ServiceMetrics::device_text() const {
  const auto devices = all_devices();
  std::string text =
      heading("device_verdicts_total", "counter", "plans of candidates that a device ran");
  for (const auto& [name, use] : devices)
    text +=
        fmt::format("tritonsmith_device_verdicts_total{{device=\"{}\"}} {}\n", name, use.verdicts);
  text += heading("device_busy_seconds_total", "counter", "time that a device's referee worked");
  for (const auto& [name, use] : devices)
    text += fmt::format("tritonsmith_device_busy_seconds_total{{device=\"{}\"}} {}\n", name,
                        use.busy_seconds);
  text += heading("device_referee_restarts_total", "counter",
                  "times that another process took the place of a device's referee");
  for (const auto& [name, use] : devices)
    text += fmt::format("tritonsmith_device_referee_restarts_total{{device=\"{}\"}} {}\n", name,
                        use.restarts);
  text += heading("device_drift_ratio", "gauge",
                  "how much slower the device ran its last calibration than its first one");
  for (const auto& [name, drift] : drift_)
    text += fmt::format("tritonsmith_device_drift_ratio{{device=\"{}\"}} {}\n", name, drift);
  return text;
}

void ServiceMetrics::count_reply(int status) {
  const std::lock_guard lock(mutex_);
  ++replies_[status];
}

void ServiceMetrics::change_streams(int by) {
  const std::lock_guard lock(mutex_);
  streams_ += by;
}

int ServiceMetrics::streams() const {
  const std::lock_guard lock(mutex_);
  return streams_;
}

std::string ServiceMetrics::text(const JobCounts& counts, bool works, bool ready) const {
  const std::lock_guard lock(mutex_);
  std::string text = single("up", "gauge", "1 while verdicts come", works ? 1 : 0);
  text += single("ready", "gauge", "1 while a judge that passed its self-test takes jobs",
                 ready ? 1 : 0);
  text += heading("queued_jobs", "gauge", "jobs that wait for their turn");
  for (const auto& [priority, count] : counts.queued)
    text +=
        fmt::format("tritonsmith_queued_jobs{{priority=\"{}\"}} {}\n", name_of(priority), count);
  text += single("running_jobs", "gauge", "jobs being judged", counts.running);
  text += single("unfinished_jobs_limit", "gauge", "more are refused", counts.limit);
  text += single("open_streams", "gauge", "clients that listen for verdicts", streams_);
  text +=
      single("submitted_jobs_total", "counter", "jobs accepted", static_cast<double>(submitted_));
  text += single("repeated_jobs_total", "counter", "of those, answered or under way already",
                 static_cast<double>(repeats_));
  text +=
      single("repeated_verdicts_total", "counter", "verdicts on jobs that had one already, dropped",
             static_cast<double>(counts.repeated_verdicts));
  text += single("quarantined_gpus", "gauge", "GPUs that judge no more until an operator says so",
                 counts.quarantined_gpus);
  text += single("judged_again_total", "counter",
                 "jobs that were judged again because their GPU went into quarantine",
                 static_cast<double>(counts.judged_again));
  text += heading("verdicts_total", "counter", "jobs concluded");
  for (const auto& [outcome, count] : verdicts_)
    text +=
        fmt::format("tritonsmith_verdicts_total{{outcome=\"{}\"}} {}\n", name_of(outcome), count);
  text += device_text();
  text += heading("replies_total", "counter", "HTTP replies");
  for (const auto& [status, count] : replies_)
    text += fmt::format("tritonsmith_replies_total{{status=\"{}\"}} {}\n", status, count);
  text += heading("stage_seconds_total", "counter", "time that verdicts spent in each stage");
  for (const auto& [stage, seconds] : stage_seconds_)
    text += fmt::format("tritonsmith_stage_seconds_total{{stage=\"{}\"}} {}\n", stage, seconds);
  text += heading("verdict_seconds", "histogram", "from the start of judging to the verdict");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i)
    text += fmt::format("tritonsmith_verdict_seconds_bucket{{le=\"{}\"}} {}\n", kBounds[i],
                        sum += seconds_[i]);
  sum += seconds_.back();
  text += fmt::format(
      "tritonsmith_verdict_seconds_bucket{{le=\"+Inf\"}} {0}\ntritonsmith_verdict_seconds_sum {1}\n"
      "tritonsmith_verdict_seconds_count {0}\n",
      sum, seconds_sum_);
  return text;
}

}  // namespace tritonsmith::gym::service
