// CompilerPool: compilations, in long-lived jailed workers forked from the zygote. Equal kernels
// compile once, also when they are asked for at the same time. A worker that crashes or hangs is
// replaced; the kernel that did it gets a second, fresh worker before the failure counts as its
// own. Lives on the capture loop's thread, like GuestPool.
#pragma once

#include <deque>
#include <map>

#include "gym/capture/compile_cache.h"
#include "gym/capture/guest.h"
#include "gym/capture/slot_uid.h"

namespace tritonsmith::gym {

struct CompileJob {
  std::uint64_t id = 0;
  CompileRequest request;  // without locations, once it is submitted
  int line = 0;            // of the candidate, where its kernel begins
  CapturePool::CompileDone done;
  TimePoint submitted = system_clock().now();
};

class CompilerPool {
 public:
  static Result<CompilerPool> make(const CaptureConfig& config);

  void submit(CompileJob job);
  // A compilation that has begun goes on (it may fill the cache); only nobody waits for it.
  bool cancel(std::uint64_t id);
  Status advance(Zygote& zygote, std::string_view compiler_version);
  bool exited(const GuestExited& exited);
  void lost_all(const Error& why);
  void fail_all(const Error& why);

  bool idle() const;
  void add_polls(std::vector<pollfd>& polls) const;
  TimePoint next_deadline() const;

 private:
  // One kernel to compile, and who waits for it.
  struct Work {
    std::string key;
    std::vector<CompileJob> jobs;
    int attempts = 0;
    double queued_ms = 0;
  };
  enum class Phase { none, greeting, ready, busy, over };
  struct Worker {
    SlotUid uid;
    Phase phase = Phase::none;
    std::unique_ptr<Guest> guest;
    std::optional<Work> work;
    int served = 0;
    Deadline reaped_by = Deadline::never();
  };

  explicit CompilerPool(const CaptureConfig& config);
  void sort_in(std::string_view compiler_version);
  Status start_worker(Worker& worker, Zygote& zygote);
  Status hear(Worker& worker, Zygote& zygote);
  Status greet(Worker& worker, Zygote& zygote, std::string_view frame);
  void fail_waiting(const Error& why);
  void take_work(Worker& worker);
  void take_reply(Worker& worker, const std::string& frame);
  void worker_failed(Worker& worker, GuestEnd end);
  void retire(Worker& worker, Zygote& zygote);
  static void give(CompileJob& job, CompileOutcome outcome);
  void give_results(Work work, const CompileCache::Entry& entry, double compile_ms);

  GuestLimits limits_;
  std::uint64_t tmp_bytes_;
  int compiles_per_worker_;
  CompileCache cache_;
  std::deque<CompileJob> unsorted_;
  std::deque<Work> queue_;
  std::vector<Worker> workers_;
};

}  // namespace tritonsmith::gym
