// CaptureLoop: the implementation of CapturePool. Its one thread owns the zygote, its spare and
// both pools. Other threads submit work through a mailbox. If the zygote dies, the spare takes over
// or the loop starts another, and the work in flight runs once more. If zygotes die three times in
// a row without having been ready, the waiting work fails with the reason. The next submission then
// makes the loop try again.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "gym/capture/capture_pool.h"
#include "gym/capture/guest_pool.h"
#include "gym/compile/compiler_pool.h"

namespace tritonsmith::gym::capture {

class CaptureLoop : public CapturePool {
 public:
  // Works as CapturePool::start, with other Python modules, for tests.
  static Result<std::unique_ptr<CapturePool>> start(const CaptureConfig& config,
                                                    sandbox::GuestModules modules);
  ~CaptureLoop() override;

  std::uint64_t capture(CaptureRequest request, CaptureDone done) override;
  std::uint64_t compile(compile::CompileRequest request, CompileDone done) override;
  void cancel(std::uint64_t id) override;
  Result<Versions> versions(Deadline deadline) override;

 private:
  struct Cancel {
    std::uint64_t id = 0;
  };
  using Letter = std::variant<CaptureJob, compile::CompileJob, Cancel>;

  // A zygote and its progress towards being ready.
  struct Warming {
    sandbox::Zygote zygote;
    TimePoint started = system_clock().now();
    Deadline ready_by = Deadline::never();
    bool ready = false;
  };

  CaptureLoop(sandbox::GuestFiles files, GuestPool guests, compile::CompilerPool compilers,
              Pipe wake, sandbox::ZygoteOptions options);
  void post(Letter letter);
  void run(const std::stop_token& stop);
  void read_mail();
  void do_what_is_possible();
  Status serve_guests();
  Result<Warming> start_zygote() const;
  Result<bool> hear_zygote();  // returns whether there was an event
  void zygote_failed(const Error& why);
  void await_spare();
  void tend_spare();
  void wait_for_something();

  sandbox::GuestFiles files_;
  GuestPool guests_;
  compile::CompilerPool compilers_;
  Pipe wake_;
  sandbox::ZygoteOptions options_;
  std::optional<Warming> zygote_, spare_;
  Deadline spare_due_ = Deadline::never();
  int failures_ = 0;  // in a row
  std::string compiler_version_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<Letter> mail_;
  std::uint64_t last_id_ = 0;
  std::optional<Result<Versions>> versions_;

  std::jthread thread_;  // last, because the thread uses all of the above
};

}  // namespace tritonsmith::gym::capture
