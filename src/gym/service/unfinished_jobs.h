// UnfinishedJobs holds the queue, the leases and the deadlines of a job store in memory. It knows
// jobs by their names only. It reads no clock: the caller passes the time. One thread at a time uses
// it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

struct UnfinishedJob {
  api::Priority priority = api::Priority::normal;
  std::int64_t sequence = 0;     // numbers the jobs in the order of their arrival
  std::int64_t deadline_ms = 0;  // 0: none
  std::string device;            // the class of devices that it needs; empty: any
  std::string submitter;         // the first that sent it; empty: unknown
  std::string worker;            // the worker that has it; empty: it is queued
  std::int64_t lease_end_ms = 0;
  bool is_running() const { return !worker.empty(); }
};

class UnfinishedJobs {
 public:
  // Returns nullptr for a job that is not unfinished.
  const UnfinishedJob* find(const std::string& name) const;
  int size() const { return static_cast<int>(jobs_.size()); }
  int of_submitter(const std::string& submitter) const;
  std::vector<std::string> queued() const;
  std::vector<std::string> overdue(std::int64_t now_ms) const;
  void count(JobCounts& counts) const;
  // Returns why `added` more jobs of the submitter do not fit, or nothing if they fit. At most
  // `limit` jobs may be unfinished.
  std::optional<JobStoreFull> lack_of_room(int limit, const Submitter& submitter, int added) const;

  // Replaces a job of that name.
  void enter(const std::string& name, UnfinishedJob job);
  void leave(const std::string& name);

  // Returns the most urgent queued job that one of these classes of devices may judge, or nothing.
  // Without classes every job counts.
  std::optional<std::string> next(const std::vector<std::string>& devices) const;
  void start(const std::string& name, const Lease& lease, std::int64_t now_ms);
  void renew(const Lease& lease, std::int64_t now_ms);
  // Queues the jobs of workers that did not renew their lease.
  void reclaim(std::int64_t now_ms);
  // Queues the job again if the worker has it. Returns whether it had the job.
  bool give_back(const std::string& worker, const std::string& name);
  // Tells the job's worker, if it has one, that the job no longer belongs to it.
  void withdraw(const std::string& name);
  std::vector<std::string> take_withdrawn(const std::string& worker);

 private:
  using QueuePosition = std::tuple<api::Priority, std::int64_t, std::string>;
  static QueuePosition position(const std::string& name, const UnfinishedJob& job) {
    return {job.priority, job.sequence, name};
  }
  void enqueue(const std::string& name, const UnfinishedJob& job);
  void dequeue(const std::string& name, const UnfinishedJob& job);
  void queue_again(const std::string& name, UnfinishedJob& job);

  std::map<std::string, UnfinishedJob> jobs_;
  std::map<std::string, int> of_submitter_;
  std::map<std::string, std::set<QueuePosition>> queues_;  // by class of devices; none is empty
  std::set<std::string> running_;
  std::set<std::pair<std::int64_t, std::string>> deadlines_;
  std::map<std::string, std::vector<std::string>> withdrawn_;  // by worker
};

}  // namespace tritonsmith::gym::service
