// WorkerReports: the workers' reports about themselves, in a job store. Any thread may call.
// Nothing waits.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace tritonsmith::gym::service {

// A worker, and how long it holds the jobs that it takes. The span begins at the call, by the
// store's clock, because the clocks of hosts differ. A worker renews its lease well before the end.
struct Lease {
  std::string worker;  // never empty; unique among the workers of a store
  Milliseconds span = std::chrono::seconds(60);
  // The classes of devices that the worker judges on (JudgeJob::device). It gets no job for another
  // class. Empty: it gets every job.
  std::vector<std::string> devices = {};
  // The UUIDs of the GPUs on which the worker judges. While one of them is in quarantine, it gets
  // no job (gpu_records.h).
  std::vector<std::string> gpus = {};
};

// A worker's report about itself. It sends one with each heartbeat.
struct WorkerView {
  std::string name;                  // the worker of its lease
  std::string host;                  // the machine's name
  std::string role = "all";          // "judge" or "capture": it does one half of the work
  std::vector<std::string> devices;  // classes of devices that it judges on; see Lease::devices
  std::vector<std::string> gpus;     // the UUIDs of the GPUs that it judges on
  int at_once = 0;                   // the number of jobs that it takes at a time
  int running = 0;                   // the number of jobs that it has
  std::string version;               // the versions that decide its verdicts
  std::string trouble;               // one line, why it takes no jobs; empty while it takes jobs
  std::int64_t seen_ms = 0;          // the time of its last heartbeat, by the store's clock
};

class WorkerReports {
 public:
  virtual ~WorkerReports() = default;
  // Keeps the worker's report until the lease ends. The store itself sets `name` and `seen_ms`.
  virtual Status announce(const Lease& lease, const WorkerView& worker) = 0;
  // Removes the report of a worker that ends. The worker has given back or concluded all its jobs.
  virtual Status depart(const std::string& worker) = 0;
  // Returns the workers whose report is still kept, sorted by name.
  virtual Result<std::vector<WorkerView>> workers() const = 0;
};

}  // namespace tritonsmith::gym::service
