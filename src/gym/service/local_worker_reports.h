// LocalWorkerReports: the WorkerReports of one program, in memory. The program has one worker, and both
// end together, so no report outlives its lease.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "gym/service/worker_reports.h"

namespace tritonsmith::gym::service {

class LocalWorkerReports : public WorkerReports {
 public:
  explicit LocalWorkerReports(const std::function<std::int64_t()>& now) : now_(now) {}

  Status announce(const Lease& lease, const WorkerView& worker) override {
    const std::lock_guard lock(mutex_);
    WorkerView& known = workers_[lease.worker] = worker;
    known.name = lease.worker;
    known.seen_ms = now_();
    return ok();
  }

  Status depart(const std::string& worker) override {
    const std::lock_guard lock(mutex_);
    workers_.erase(worker);
    return ok();
  }

  Result<std::vector<WorkerView>> workers() const override {
    const std::lock_guard lock(mutex_);
    std::vector<WorkerView> views;
    for (const auto& [name, view] : workers_) views.push_back(view);
    return views;
  }

 private:
  const std::function<std::int64_t()>& now_;
  mutable std::mutex mutex_;
  std::map<std::string, WorkerView> workers_;
};

}  // namespace tritonsmith::gym::service
