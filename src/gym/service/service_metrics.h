// ServiceMetrics: the counters of `gym serve`, in Prometheus' text form. Any thread may call it.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "data/verdict.h"
#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

// The outcome of a job: docs/service.md, "Metrics".
enum class JobOutcome { accepted, refused, wrong, failed, undecided, infrastructure };

class ServiceMetrics {
 public:
  void count_submission(std::size_t jobs, std::size_t repeats);
  void count_verdict(const Verdict& verdict, double seconds);
  void count_reply(int status);
  void change_streams(int by);
  // Begins to count for a new judge, which counts its devices' work from 0.
  void begin_judge();
  // The work of the judge's devices since the judge began.
  void set_devices(const std::vector<api::DeviceUse>& devices);
  // How far the calibration of a device has drifted from its first one.
  void set_drift(const std::string& device, double share);
  int streams() const;
  std::map<JobOutcome, std::uint64_t> verdicts() const;

  // Returns the counters, and the present state of the job store.
  std::string text(const JobCounts& counts, bool works, bool ready) const;

 private:
  // Both are called with the lock held.
  std::map<std::string, api::DeviceUse> all_devices() const;
  std::string device_text() const;

  static constexpr std::array<double, 9> kBounds = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120};

  mutable std::mutex mutex_;
  std::uint64_t submitted_ = 0, repeats_ = 0;
  std::map<JobOutcome, std::uint64_t> verdicts_{
      {JobOutcome::accepted, 0}, {JobOutcome::refused, 0},   {JobOutcome::wrong, 0},
      {JobOutcome::failed, 0},   {JobOutcome::undecided, 0}, {JobOutcome::infrastructure, 0}};
  std::map<std::string, api::DeviceUse> devices_;  // the devices of the present judge, by name
  std::map<std::string, api::DeviceUse> earlier_devices_;  // the devices of the judges before it
  std::map<std::string, double> drift_;                    // by device
  std::map<int, std::uint64_t> replies_;                   // by status
  std::map<std::string, double> stage_seconds_;
  // not cumulated; the last counts all larger values
  std::array<std::uint64_t, kBounds.size() + 1> seconds_{};
  double seconds_sum_ = 0;
  int streams_ = 0;
};

}  // namespace tritonsmith::gym::service

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::service::JobOutcome> =
    names<gym::service::JobOutcome>({{gym::service::JobOutcome::accepted, "accepted"},
                                     {gym::service::JobOutcome::refused, "refused"},
                                     {gym::service::JobOutcome::wrong, "wrong"},
                                     {gym::service::JobOutcome::failed, "failed"},
                                     {gym::service::JobOutcome::undecided, "undecided"},
                                     {gym::service::JobOutcome::infrastructure, "infrastructure"}});
}  // namespace tritonsmith
