// JobAdmission: one batch of submissions on its way into a SqliteJobStore. Its changes of the table
// belong to the caller's transaction, and its entries join the queue after the commit.
#pragma once

#include <map>

#include "gym/service/sqlite_job_table.h"

namespace tritonsmith::gym::service {

// A submission, and its verdict if one was recalled.
struct Offer {
  const api::Submission& submission;
  std::string name;  // job_name
  std::optional<Verdict> recalled;
};

class JobAdmission {
 public:
  JobAdmission(SqliteJobTable& table, const UnfinishedJobs& unfinished, const Submitter& submitter,
               std::int64_t now_ms)
      : table_(table), unfinished_(unfinished), submitter_(submitter), now_ms_(now_ms) {}

  Result<JobView> add(const Offer& offer);
  int added() const { return added_; }  // jobs that were not unfinished before
  const std::map<std::string, UnfinishedJob>& entries() const { return entries_; }

 private:
  // Joins an equal job that is queued or running.
  Result<JobView> join(JobView known, UnfinishedJob wish);

  SqliteJobTable& table_;
  const UnfinishedJobs& unfinished_;
  const Submitter& submitter_;
  std::int64_t now_ms_;
  std::map<std::string, UnfinishedJob> entries_;
  int added_ = 0;
};

}  // namespace tritonsmith::gym::service
