// CompilerPool: runs compilations in long-lived jailed workers, which the zygote forks. Equal
// kernels compile once, also when they arrive at the same time. Jobs are served round-robin and
// have a budget (compile_queue.h). The pool replaces a worker that crashes or hangs. The kernel of
// a worker that crashed gets a second, fresh worker, and only then is the failure the kernel's. It
// lives on the capture loop's thread, as GuestPool does.
#pragma once

#include <deque>

#include "gym/compile/compile_cache.h"
#include "gym/compile/compile_queue.h"
#include "gym/sandbox/guest.h"
#include "gym/sandbox/slot_uid.h"

namespace tritonsmith::gym::compile {

// The exit code of a worker whose program, such as an assembler, was killed: PROGRAM_KILLED in
// gym/guest/worker.py.
inline constexpr int kProgramKilled = 75;

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
  bool prolong(Worker& worker);
  void take_reply(Worker& worker, const std::string& frame);
  void charge(const QueuedKernel& work, double cpu_ms);
  void worker_failed(Worker& worker, sandbox::GuestEnd end);
  void retire(Worker& worker, sandbox::Zygote& zygote);
  static void give(CompileJob& job, CompileOutcome outcome);
  void give_results(QueuedKernel work, const CompileCache::Entry& entry, double compile_ms);

  sandbox::GuestLimits limits_;
  std::uint64_t tmp_bytes_;
  int compiles_per_worker_;
  CompileCache cache_;
  std::deque<CompileJob> unsorted_;
  CompileQueue queue_;
  std::vector<Worker> workers_;
};

}  // namespace tritonsmith::gym::compile
