// CompileQueue: the kernels that wait for a compile worker. The judge's jobs are served
// round-robin, so that a job of many slow kernels delays another job by one kernel at most. It also
// counts the compile time of each job against a budget. It belongs to CompilerPool, on whose thread
// it is used.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gym/compile/compile_request.h"

namespace tritonsmith::gym::compile {

struct CompileJob {
  std::uint64_t id = 0;
  CompileRequest request;  // without locations once it is submitted
  int line = 0;            // the candidate's line where its kernel begins
  CompileDone done;
  TimePoint submitted = system_clock().now();
};

// One kernel to compile, and the requests that wait for it.
struct QueuedKernel {
  std::string key;
  std::vector<CompileJob> jobs;
  int attempts = 0;
  double queued_ms = 0;
  std::uint64_t payer = 0;  // the job that was picked, and pays for the compile time
  TimePoint started;
};

class CompileQueue {
 public:
  explicit CompileQueue(double budget_seconds) : budget_seconds_(budget_seconds) {}

  // Adds a request to the waiting kernel with the same key, or behind the kernels of its job.
  void add(std::string key, CompileJob job);
  // Returns a kernel whose worker failed. It is the first to be taken again.
  void put_back(QueuedKernel kernel);
  // Takes the first kernel of the job that has waited longest.
  std::optional<QueuedKernel> take();
  // Adds compile time to the account of the job that was picked.
  void charge(const QueuedKernel& kernel, double seconds);
  // Removes and returns the requests of all jobs that have spent their budget.
  std::vector<CompileJob> take_unaffordable();
  // Removes one request. Returns whether it waited here.
  bool cancel(std::uint64_t id);
  std::vector<CompileJob> take_all();
  bool empty() const { return waiting_.empty(); }
  double budget_seconds() const { return budget_seconds_; }

 private:
  struct Account {
    std::uint64_t waits_since = 0;  // in picks
    double seconds = 0;
  };
  static std::uint64_t payer_of(const CompileJob& job);
  template <typename Predicate>
  std::vector<CompileJob> remove(Predicate is_it);
  void close_accounts();

  double budget_seconds_;
  std::uint64_t picks_ = 0;
  std::deque<QueuedKernel> waiting_;           // in the order of arrival
  std::map<std::uint64_t, Account> accounts_;  // of the jobs that wait for kernels
};

}  // namespace tritonsmith::gym::compile
