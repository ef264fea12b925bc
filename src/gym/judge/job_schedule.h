// JobSchedule: the unfinished jobs of a judge, and the rule of what may start. Jobs start in the order
// of their arrival, a limited number at a time. A job that must run alone waits until all running jobs
// have ended, and no job starts beside it. Only the coordinator's thread uses it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "gym/judge/job_progress.h"

namespace tritonsmith::gym::judge {

class JobSchedule {
 public:
  explicit JobSchedule(std::size_t most_running) : most_running_(most_running) {}

  void add(JobProgress job) { backlog_.push_back(std::move(job)); }
  // Adds a job for another attempt, before the jobs that have not begun.
  void retry(JobProgress job) { backlog_.push_front(std::move(job)); }
  // Adds a job for an attempt with nothing beside it.
  void retry_alone(JobProgress job) { alone_.push_back(std::move(job)); }
  // Lets a job follow an equal one that has not ended: both get its verdict. Returns false if there
  // is none.
  bool follow_an_equal_one(const JobProgress& job);

  // Removes the next job that may start now. Returns nothing if none may.
  std::optional<JobProgress> next();
  // Adds a running job under its serial.
  JobProgress& run(JobProgress job);
  // Returns a running job, or null.
  JobProgress* find(std::uint64_t serial);
  // Removes a running job.
  JobProgress take(std::uint64_t serial);
  // Says whether a running job has this task.
  bool runs_task(const std::string& task_key) const;

  // Withdraws the caller's request with this id. A waiting job that nobody wants leaves the schedule.
  // A running job that nobody wants stays, and is `idle`.
  struct Withdrawal {
    bool is_known = false;
    JobProgress* idle = nullptr;
  };
  Withdrawal withdraw(std::uint64_t id);

 private:
  std::size_t most_running_;
  std::deque<JobProgress> backlog_, alone_;
  std::map<std::uint64_t, JobProgress> running_;
};

}  // namespace tritonsmith::gym::judge
