// GuestPool: runs captures, each in a guest of its own, with at most one guest per slot. A job
// waits for a slot. Its guest is forked, reports its jail, receives the request and replies. The
// pool then kills and reaps the guest before the slot serves again. Only jobs that share guests
// follow each other in one guest, which ends after a failure or kRequestsOfGuest plans. The pool
// lives on the capture loop's thread, and advance() never blocks.
#pragma once

#include <deque>

#include "gym/capture/capture_pool.h"
#include "gym/sandbox/guest.h"
#include "gym/sandbox/slot_uid.h"

namespace tritonsmith::gym::capture {

struct CaptureJob {
  sandbox::GuestId id = 0;
  CaptureRequest request;
  CapturePool::CaptureDone done;
  TimePoint submitted = system_clock().now();
  int attempts = 0;
};

class GuestPool {
 public:
  static Result<GuestPool> make(const CaptureConfig& config);

  void submit(CaptureJob job) { queue_.push_back(std::move(job)); }
  bool cancel(sandbox::GuestId id, sandbox::Zygote* zygote);
  // Starts guests in free slots, reads from running ones and delivers results. Fails when the
  // zygote does not obey.
  Status advance(sandbox::Zygote& zygote);
  // Returns true when the guest belongs to this pool.
  bool exited(const sandbox::GuestExited& exited);
  // The zygote died, and all guests with it. Jobs in flight return to the queue once.
  void lost_all(const Error& why);
  void fail_all(const Error& why);

  bool idle() const;
  void add_polls(std::vector<pollfd>& polls) const;
  TimePoint next_deadline() const;

 private:
  // waiting: a shared guest waits for the next request. late: the guest was killed at its time
  // limit, and the result waits for the zygote's report.
  enum class Phase { free, greeting, capturing, sending_plan, waiting, late, over };
  struct Slot {
    sandbox::SlotUid uid;
    Phase phase = Phase::free;
    std::unique_ptr<sandbox::Guest> guest;
    CaptureJob job;
    CaptureOutcome outcome;
    std::vector<std::string> layers;  // those of the guest's jail that held
    int served = 0;                   // plans that the guest has made
    Deadline reaped_by = Deadline::never();
  };

  explicit GuestPool(const CaptureConfig& config);
  bool take_job(Slot& slot);
  Status launch(Slot& slot, sandbox::Zygote& zygote);
  void serve_next(Slot& slot, sandbox::Zygote& zygote);
  void hear(Slot& slot, sandbox::Zygote& zygote);
  // Returns false when the pool wants no further frame of the guest.
  bool take_frame(Slot& slot, std::string frame);
  bool greet(Slot& slot, const Json& hello);
  bool take_header(Slot& slot, const Json& header);
  void conclude_late(Slot& slot) const;
  static void retire(Slot& slot, sandbox::Zygote& zygote);
  static bool may_go_on(Slot& slot);
  static void give_result(Slot& slot);
  void give_back(CaptureJob job, const Error& why);

  sandbox::GuestLimits limits_;
  std::uint64_t tmp_bytes_;
  std::deque<CaptureJob> queue_;
  std::vector<Slot> slots_;
};

}  // namespace tritonsmith::gym::capture
