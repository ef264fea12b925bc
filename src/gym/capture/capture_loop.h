// CaptureLoop: the CapturePool. Its one thread owns the zygote and both pools; what others submit
// waits in a mailbox. If the zygote dies it is started again and the work in flight is done again,
// once; if it dies thrice in a row without having been ready, what waits fails, saying why, and the
// next submission makes it try again.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "gym/capture/capture_pool.h"
#include "gym/capture/compiler_pool.h"
#include "gym/capture/guest_pool.h"

namespace tritonsmith::gym {

class CaptureLoop : public CapturePool {
 public:
  // As CapturePool::start, with other Python modules than our own (tests).
  static Result<std::unique_ptr<CapturePool>> start(const CaptureConfig& config,
                                                    GuestModules modules);
  ~CaptureLoop() override;

  std::uint64_t capture(CaptureRequest request, CaptureDone done) override;
  std::uint64_t compile(CompileRequest request, CompileDone done) override;
  void cancel(std::uint64_t id) override;
  Result<Versions> versions(Deadline deadline) override;

 private:
  struct Cancel {
    std::uint64_t id = 0;
  };
  using Letter = std::variant<CaptureJob, CompileJob, Cancel>;

  CaptureLoop(GuestFiles files, GuestPool guests, CompilerPool compilers, Pipe wake,
              ZygoteOptions options);
  void post(Letter letter);
  void run(const std::stop_token& stop);
  void read_mail();
  void turn();
  Status start_zygote();
  Result<bool> hear_zygote();  // whether there was news
  void zygote_failed(const Error& why);
  void wait_for_something();

  GuestFiles files_;
  GuestPool guests_;
  CompilerPool compilers_;
  Pipe wake_;
  ZygoteOptions options_;
  std::optional<Zygote> zygote_;
  bool ready_ = false;
  int failures_ = 0;  // in a row
  Deadline ready_by_ = Deadline::never();
  TimePoint started_;
  std::string compiler_version_;

  std::mutex mutex_;  // guards what is below
  std::condition_variable changed_;
  std::vector<Letter> mail_;
  std::uint64_t last_id_ = 0;
  std::optional<Result<Versions>> versions_;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace tritonsmith::gym
