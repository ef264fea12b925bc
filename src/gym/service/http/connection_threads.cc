#include "gym/service/http/connection_threads.h"

#include <chrono>

namespace tritonsmith::gym::service {
namespace {

// How long a thread waits for its next connection.
constexpr std::chrono::seconds kPatience{10};

thread_local bool shedding = false;

}  // namespace

ConnectionThreads::ConnectionThreads(int limit)
    : limit_(limit), shedder_([this] {
        shedding = true;
        while (const auto serve = surplus_.pop()) (*serve)();
      }) {}

ConnectionThreads::~ConnectionThreads() { shutdown(); }

bool ConnectionThreads::is_shedding() { return shedding; }

int ConnectionThreads::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_;
}

void ConnectionThreads::enqueue(Connection serve) {
  {
    const std::lock_guard lock(mutex_);
    if (open_ < limit_) {
      ++open_;
      next_.push_back(std::move(serve));
      if (std::ssize(next_) <= idle_) return awaited_.notify_one();
      ++threads_;
      std::thread([this] { serve_connections(); }).detach();
      return;
    }
  }
  surplus_.push(std::move(serve));
}

void ConnectionThreads::serve_connections() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    awaited_.wait_for(lock, kPatience, [this] { return !next_.empty() || is_closed_; });
    --idle_;
    if (next_.empty()) break;
    Connection serve = std::move(next_.front());
    next_.pop_front();
    lock.unlock();
    serve();
    serve = nullptr;
    lock.lock();
    --open_;
  }
  --threads_;
  ended_.notify_all();
}

void ConnectionThreads::shutdown() {
  surplus_.close();
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  awaited_.notify_all();
  ended_.wait(lock, [this] { return threads_ == 0; });
}

}  // namespace tritonsmith::gym::service
