#include "gym/service/http/connection_threads.h"

namespace tritonsmith::gym::service {
namespace {

thread_local bool shedding = false;

}  // namespace

ConnectionThreads::ConnectionThreads(int limit)
    : limit_(limit), shedder_([this] {
        shedding = true;
        while (const auto serve = surplus_.pop()) (*serve)();
      }) {}

ConnectionThreads::~ConnectionThreads() { shutdown(); }

bool ConnectionThreads::is_shedding() { return shedding; }

void ConnectionThreads::enqueue(std::function<void()> serve) {
  {
    const std::lock_guard lock(mutex_);
    if (live_ < limit_) {
      ++live_;
      std::thread([this, serve = std::move(serve)] {
        serve();
        const std::lock_guard lock_at_end(mutex_);
        --live_;
        changed_.notify_all();
      }).detach();
      return;
    }
  }
  surplus_.push(std::move(serve));
}

void ConnectionThreads::shutdown() {
  surplus_.close();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return live_ == 0; });
}

}  // namespace tritonsmith::gym::service
