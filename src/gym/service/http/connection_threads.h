// ConnectionThreads: cpp-httplib's queue of connections, without a queue: each gets a thread, up to
// a limit; a few beyond it are served by one thread with is_shedding() true, which answers 503;
// then enqueue waits, and with it the accepting thread.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/bounded_queue.h"

namespace tritonsmith::gym::service {

class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(int limit);
  ~ConnectionThreads() override;

  void enqueue(std::function<void()> serve) override;
  void shutdown() override;

  // Of the calling thread.
  static bool is_shedding();

 private:
  using Connection = std::function<void()>;
  static constexpr std::size_t kTurnedAwayAtOnce = 64;

  int limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int live_ = 0;
  BoundedQueue<Connection> surplus_{kTurnedAwayAtOnce};
  std::jthread shedder_;
};

}  // namespace tritonsmith::gym::service
