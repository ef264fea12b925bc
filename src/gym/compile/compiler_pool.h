// CompilerPool: runs compilations in long-lived jailed workers, which the zygote forks. Equal
// kernels compile once, also when they arrive at the same time. The pool replaces a worker that
// crashes or hangs. Its kernel gets a second, fresh worker, and only then is the failure the
// kernel's. It lives on the capture loop's thread, as GuestPool does.
#pragma once

#include <deque>
#include <map>

#include "gym/compile/compile_cache.h"
#include "gym/sandbox/guest.h"
#include "gym/sandbox/slot_uid.h"

namespace tritonsmith::gym::compile {

struct CompileJob {
  std::uint64_t id = 0;
  CompileRequest request;  // without locations once it is submitted
  int line = 0;            // the candidate's line where its kernel begins
  CompileDone done;
  TimePoint submitted = system_clock().now();
};

class CompilerPool {
 public:
  static Result<CompilerPool> make(const CompilerLimits& limits);

  void submit(CompileJob job);
  // Drops the job's callback. A compilation that has begun goes on, as it may fill the cache.
  bool cancel(std::uint64_t id);
  Status advance(sandbox::Zygote& zygote, std::string_view compiler_version);
  bool exited(const sandbox::GuestExited& exited);
  void lost_all(const Error& why);
  void fail_all(const Error& why);

  bool idle() const;
  void add_polls(std::vector<pollfd>& polls) const;
  TimePoint next_deadline() const;

 private:
  // One kernel to compile, and the jobs that wait for it.
  struct QueuedKernel {
    std::string key;
    std::vector<CompileJob> jobs;
    int attempts = 0;
    double queued_ms = 0;
  };
  enum class Phase { none, greeting, ready, busy, over };
  struct Worker {
    sandbox::SlotUid uid;
    Phase phase = Phase::none;
    std::unique_ptr<sandbox::Guest> guest;
    std::optional<QueuedKernel> work;
    int served = 0;
    Deadline reaped_by = Deadline::never();
  };

  explicit CompilerPool(const CompilerLimits& limits);
  void sort_in(std::string_view compiler_version);
  Status start_worker(Worker& worker, sandbox::Zygote& zygote);
  Status hear(Worker& worker, sandbox::Zygote& zygote);
  Status greet(Worker& worker, sandbox::Zygote& zygote, std::string_view frame);
  void fail_waiting(const Error& why);
  void take_work(Worker& worker);
  void take_reply(Worker& worker, const std::string& frame);
  void worker_failed(Worker& worker, sandbox::GuestEnd end);
  void retire(Worker& worker, sandbox::Zygote& zygote);
  static void give(CompileJob& job, CompileOutcome outcome);
  void give_results(QueuedKernel work, const CompileCache::Entry& entry, double compile_ms);

  sandbox::GuestLimits limits_;
  std::uint64_t tmp_bytes_;
  int compiles_per_worker_;
  CompileCache cache_;
  std::deque<CompileJob> unsorted_;
  std::deque<QueuedKernel> queue_;
  std::vector<Worker> workers_;
};

}  // namespace tritonsmith::gym::compile
