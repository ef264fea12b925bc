// BoundedQueue: passes work from thread to thread. push() waits while the queue is full and pop()
// waits while it is empty, each until a Deadline. After close(), poppers drain the remaining items
// and then get nothing. Any number of threads may use a queue.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace tritonsmith {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Returns false when the queue is closed, or stays full until the deadline. The item is then
  // dropped.
  bool push(T item, Deadline deadline = Deadline::never()) {
    std::unique_lock lock(mutex_);
    if (!wait(changed_space_, lock, deadline,
              [&] { return closed_ || items_.size() < capacity_; }) ||
        closed_)
      return false;
    items_.push_back(std::move(item));
    changed_items_.notify_one();
    return true;
  }

  // Returns nothing when the deadline passes, or when the queue is closed and drained.
  std::optional<T> pop(Deadline deadline = Deadline::never()) {
    std::unique_lock lock(mutex_);
    if (!wait(changed_items_, lock, deadline, [&] { return closed_ || !items_.empty(); }) ||
        items_.empty())
      return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    changed_space_.notify_one();
    return item;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_items_.notify_all();
    changed_space_.notify_all();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  template <typename Ready>
  static bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                   Deadline deadline, Ready ready) {
    if (deadline.at() == TimePoint::max()) {
      changed.wait(lock, ready);
      return true;
    }
    return changed.wait_until(lock, deadline.at(), ready);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_items_;
  std::condition_variable changed_space_;
  std::deque<T> items_;
  std::size_t capacity_;
  bool closed_ = false;
};

}  // namespace tritonsmith
