// ServiceMetrics: what `gym serve` counts, in Prometheus' text form. Any thread.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "data/verdict.h"
#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

class ServiceMetrics {
 public:
  void count_submission(std::size_t jobs, std::size_t repeats);
  void count_verdict(const Verdict& verdict, double seconds);
  void count_reply(int status);
  void change_streams(int by);
  int streams() const;

  // Counters and, beside them, the docket as it is.
  std::string text(const JobStore::Counts& counts, bool works) const;

 private:
  static constexpr std::array<double, 9> kBounds = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120};

  mutable std::mutex mutex_;
  std::uint64_t submitted_ = 0, repeats_ = 0;
  std::map<std::string, std::uint64_t> verdicts_;  // by outcome
  std::map<int, std::uint64_t> replies_;           // by status
  std::map<std::string, double> stage_seconds_;
  std::array<std::uint64_t, kBounds.size() + 1> seconds_{};  // not cumulated; the last: more
  double seconds_sum_ = 0;
  int streams_ = 0;
};

}  // namespace tritonsmith::gym::service
