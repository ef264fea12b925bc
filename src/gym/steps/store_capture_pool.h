// StoreCapturePool: the capture pool of a judge whose candidates other hosts capture and compile.
// It asks for each step through a StepQueue and waits for the reply of a CaptureHost. It takes only
// replies with the seal of the key, and only those of one version of torch and Triton. If no
// capturing host is alive for a while, all steps end as infrastructure faults, which the judge
// repeats. One thread of the pool makes all calls and callbacks; any thread may ask.
#pragma once

#include <map>
#include <mutex>
#include <thread>
#include <variant>

#include "gym/steps/step_message.h"
#include "gym/steps/step_queue.h"

namespace tritonsmith::gym::steps {

struct StoreCaptureConfig {
  StepQueueConfig queue;
  std::string key;  // shared with the capturing hosts
  // How long steps wait while no capturing host is alive.
  Milliseconds patience = std::chrono::seconds(60);
};

class StoreCapturePool : public capture::CapturePool {
 public:
  explicit StoreCapturePool(StoreCaptureConfig config);
  ~StoreCapturePool() override;

  std::uint64_t capture(capture::CaptureRequest request, CaptureDone done) override;
  std::uint64_t compile(compile::CompileRequest request, CompileDone done) override;
  void cancel(std::uint64_t id) override;
  Result<Versions> versions(Deadline deadline) override;

 private:
  struct Step {
    std::uint64_t id = 0;
    std::string shared;
    StepRequest request;
    std::variant<CaptureDone, CompileDone> done;
    bool is_asked = false;
  };

  std::uint64_t add(StepRequest request, std::variant<CaptureDone, CompileDone> done);
  void run(const std::stop_token& stop);
  Status advance();
  Status ask_for_new();
  Status collect();
  void take_reply(const std::string& name, const std::string& purpose, const std::string& sealed_as,
                  const std::string& sealed);
  std::optional<Step> remove(const std::string& name);
  void fail(Step step, const std::string& why);
  void fail_all(const std::string& why);
  Status check_versions(const HostVersions& theirs);
  std::vector<std::string> asked_names() const;

  StoreCaptureConfig config_;
  std::uint64_t mark_;  // makes the numbers of this judge's jobs its own
  StepQueue queue_;
  std::optional<Stopwatch>
      since_host_;  // was alive; none: no step waits. Only the pool's thread uses it

  mutable std::mutex mutex_;  // guards the members below
  std::uint64_t next_id_ = 1;
  std::map<std::string, Step> steps_;  // by name
  std::vector<std::string> withdrawn_;
  std::optional<HostVersions> versions_;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::steps
