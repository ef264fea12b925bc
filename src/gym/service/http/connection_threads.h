// ConnectionThreads: gives each connection of cpp-httplib a thread, up to a limit. A few
// connections beyond it are served by one thread with is_shedding() true, which answers 503. Beyond
// those, enqueue waits, and the accepting thread with it.
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

  // Says whether the calling thread is the one that refuses connections.
  static bool is_shedding();

 private:
  using Connection = std::function<void()>;
  static constexpr std::size_t kRefusedAtOnce = 64;

  int limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int live_ = 0;
  BoundedQueue<Connection> surplus_{kRefusedAtOnce};
  std::jthread shedder_;
};

}  // namespace tritonsmith::gym::service
