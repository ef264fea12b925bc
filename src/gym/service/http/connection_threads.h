// ConnectionThreads: gives each connection of cpp-httplib a thread, up to a limit. A few
// connections beyond it are served by one thread with is_shedding() true, which answers 503. Beyond
// those, enqueue waits, and the accepting thread with it.
//
// A thread whose connection has ended waits for the next one: a new thread costs as much as a small
// reply, and the stack that an old one gives back interrupts the threads of an engine.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
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
  // Returns how many threads wait for a connection.
  int idle() const;

 private:
  using Connection = std::function<void()>;
  static constexpr std::size_t kRefusedAtOnce = 64;

  // The body of a thread.
  void serve_connections();

  int limit_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable awaited_, ended_;
  std::deque<Connection> next_;  // that no thread has taken yet
  int open_ = 0;                 // connections
  int threads_ = 0, idle_ = 0;
  bool is_closed_ = false;

  BoundedQueue<Connection> surplus_{kRefusedAtOnce};
  std::jthread shedder_;
};

}  // namespace tritonsmith::gym::service
