// RefereePool: the referees of a judge, each with a thread of its own. Referees on the CPU share one
// queue of work, and referees on GPUs share another one. The pool calibrates GPUs, and counts the work
// of each referee. Any thread may call it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gym/api/judge.h"
#include "gym/judge/referee_client.h"
#include "gym/judge/referee_queue.h"

namespace tritonsmith::gym::judge {

// The answer of a referee to one piece of work.
struct RefereeAnswer {
  RefereeWork work;
  RefereeOutcome outcome;
  std::string gpu;  // the UUID of the referee's GPU; empty: it has none
};

class RefereePool {
 public:
  // The referees' threads call this.
  using OnAnswer = std::function<void(RefereeAnswer)>;

  // Each GPU is calibrated every so many seconds while it judges; 0: never.
  RefereePool(double calibration_seconds, OnAnswer on_answer)
      : calibration_seconds_(calibration_seconds), on_answer_(std::move(on_answer)) {}
  ~RefereePool();
  RefereePool(const RefereePool&) = delete;
  RefereePool& operator=(const RefereePool&) = delete;

  // Starts a referee for the work of one backend. `number` counts the referees of that backend, and
  // RefereeWork::only names it. The referee runs plans on `device`.
  void start(std::unique_ptr<RefereeClient> referee, Backend backend, int number,
             api::DeviceUse device);
  // Queues work for the referees of its backend.
  void push(RefereeWork work);
  // Interrupts all referees and drops the queued work. No answer is needed any more.
  void stop();

  // Returns one entry for each referee.
  std::vector<api::DeviceUse> devices() const;

 private:
  RefereeQueue& queue_of(Backend backend) {
    return backend == Backend::replay ? on_gpus_ : on_cpu_;
  }
  // Does the work of a queue until it is closed. `index` is the index of the referee and its
  // device.
  void serve(RefereeQueue& queue, int number, std::size_t index, const std::stop_token& stop);
  // Measures how fast the referee's GPU is now, and notes the result in devices_.
  void calibrate(std::size_t index, RefereeClient& referee, const std::stop_token& stop);

  double calibration_seconds_;
  OnAnswer on_answer_;
  RefereeQueue on_cpu_, on_gpus_;
  mutable std::mutex mutex_;  // guards the next two members, which grow while threads run
  std::vector<std::unique_ptr<RefereeClient>> referees_;
  std::vector<api::DeviceUse> devices_;  // one for each referee
  std::vector<std::jthread> threads_;
};

}  // namespace tritonsmith::gym::judge
