// FakePool: a CapturePool without processes. Functions of the test answer captures and compilations
// on the thread that asks, so nothing waits. `hold` keeps captures back until `release`.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gym/capture/capture_pool.h"
#include "gym/judge/referee_client.h"

namespace tritonsmith::gym::judge {

class FakePool : public capture::CapturePool {
 public:
  std::function<capture::CaptureOutcome(const capture::CaptureRequest&)> on_capture;
  std::function<compile::CompileOutcome(const compile::CompileRequest&)> on_compile =
      [](const compile::CompileRequest&) {
        return compile::CompileOutcome{
            .result = compile::CompiledKernel{.cubin = "cubin", .registers = 24},
            .stage_ms = {{"compile", 5}}};
      };

  std::uint64_t capture(capture::CaptureRequest request, CaptureDone done) override {
    {
      const std::lock_guard lock(mutex_);
      captures_.push_back(request);
      if (holding_) {
        held_.emplace_back(std::move(request), std::move(done));
        return captures_.size();
      }
    }
    done(on_capture(request));
    return 0;
  }
  // Compilations that do not end.
  std::function<bool(const compile::CompileRequest&)> hangs = [](const compile::CompileRequest&) {
    return false;
  };
  std::uint64_t compile(compile::CompileRequest request, CompileDone done) override {
    if (!hangs(request)) done(on_compile(request));
    return ++compilations_;
  }
  void cancel(std::uint64_t id) override {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(id);
  }
  std::vector<std::uint64_t> cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }
  Result<Versions> versions(Deadline deadline) override {
    if (!never_ready) return Versions{.torch = "2", .triton = "3"};
    while (!deadline.passed()) std::this_thread::yield();
    return fail("not ready in time");
  }
  std::atomic<bool> never_ready = false;

  void hold() { holding_ = true; }
  void release() {
    std::vector<std::pair<capture::CaptureRequest, CaptureDone>> held;
    {
      const std::lock_guard lock(mutex_);
      holding_ = false;
      held = std::move(held_);
    }
    for (auto& [request, done] : held) done(on_capture(request));
  }
  std::vector<capture::CaptureRequest> captures() const {
    const std::lock_guard lock(mutex_);
    return captures_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<capture::CaptureRequest> captures_;
  std::vector<std::pair<capture::CaptureRequest, CaptureDone>> held_;
  bool holding_ = false;
  std::vector<std::uint64_t> cancelled_;
  std::uint64_t compilations_ = 0;
};

inline capture::CaptureOutcome capture_failure(Stage stage, ErrorClass error_class, int line = 0) {
  return {.result = sandbox::CandidateFailure{
              stage, {.error_class = error_class, .message = "m", .line = line}}};
}
inline capture::CaptureOutcome captured(const std::string& json) {
  return {.result = capture::CapturedPlan{json}};
}

// A referee that answers every job with a function of the test.
class FakeReferee : public RefereeClient {
 public:
  using Answer = std::function<RefereeOutcome(const referee::RefereeJob&)>;
  using Calibrate = std::function<Result<Calibration>()>;
  explicit FakeReferee(Answer answer, Calibrate calibrate = {})
      : answer_(std::move(answer)), calibrate_(std::move(calibrate)) {}
  RefereeOutcome judge(const referee::RefereeJob& job, const std::string&) override {
    return answer_(job);
  }
  Result<Calibration> calibrate() override {
    return calibrate_ ? calibrate_() : RefereeClient::calibrate();
  }
  void interrupt() override {}

 private:
  Answer answer_;
  Calibrate calibrate_;
};

}  // namespace tritonsmith::gym::judge
