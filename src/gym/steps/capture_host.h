// CaptureHost: takes steps from a StepQueue to the capture pool of this machine, and writes the
// sealed replies back. It does only steps with the seal of the key. Its thread makes all calls. A
// host that dies loses nothing: the leases of its steps end, and another host takes them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/bounded_queue.h"
#include "gym/steps/step_message.h"
#include "gym/steps/step_queue.h"

namespace tritonsmith::gym::steps {

struct CaptureHostConfig {
  std::string host;         // the machine's name
  std::string key;          // shared with the judges
  std::size_t at_once = 1;  // steps that the pool has at a time
  Milliseconds lease = std::chrono::seconds(60);
};

class CaptureHost {
 public:
  // Waits until the pool knows its versions, and takes a name that is unique among the hosts. Both
  // arguments must outlive the host.
  static Result<std::unique_ptr<CaptureHost>> start(StepQueue& queue, capture::CapturePool& pool,
                                                    CaptureHostConfig config);
  ~CaptureHost();

  // Takes no more steps, and waits until those that it has are done, or until the deadline.
  void drain(Deadline deadline);
  int running() const;
  // Returns why no steps are taken, in one line; empty while they are.
  std::string trouble() const;

 private:
  struct Held {
    std::string shared;
    std::uint64_t pool_id = 0;
  };
  struct Done {
    std::string name;
    StepOutcome outcome;
  };

  CaptureHost(StepQueue& queue, capture::CapturePool& pool, CaptureHostConfig config,
              HostVersions versions);
  void run(const std::stop_token& stop);
  Status advance();
  Status keep_lease();
  std::string announcement() const;
  Status take_steps();
  void hand_over(const TakenStep& step);
  Status bring_back();
  Status write(const Done& done);
  void set_trouble(std::string why);

  StepQueue& queue_;
  capture::CapturePool& pool_;
  CaptureHostConfig config_;
  HostVersions versions_;
  std::string name_;
  std::map<std::string, Held> held_;  // by name; the host's thread alone uses it
  std::optional<Stopwatch> since_heartbeat_;
  std::shared_ptr<BoundedQueue<Done>> done_;  // callbacks that have begun may outlive the host

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable drained_;
  bool is_draining_ = false;
  int running_ = 0;
  std::string trouble_;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::steps
