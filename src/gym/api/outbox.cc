#include "gym/api/outbox.h"

namespace tritonsmith::gym::api {

Status Outbox::enter(std::size_t limit) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return broken_ || unfinished_ < limit; });
  if (broken_) return tl::unexpected(*broken_);
  ++unfinished_;
  return ok();
}

void Outbox::deliver(Judged judged) {
  const std::lock_guard lock(mutex_);
  finished_.push_back(std::move(judged));
  --unfinished_;
  changed_.notify_all();
}

void Outbox::drop() {
  const std::lock_guard lock(mutex_);
  --unfinished_;
  changed_.notify_all();
}

void Outbox::break_down(Error error) {
  const std::lock_guard lock(mutex_);
  if (!broken_) broken_ = error.as_fault();
  changed_.notify_all();
}

Result<std::optional<Judged>> Outbox::take(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return broken_ || !finished_.empty() || unfinished_ == 0; };
  if (deadline.at() == TimePoint::max())
    changed_.wait(lock, ready);
  else
    changed_.wait_until(lock, deadline.at(), ready);
  if (finished_.empty() && broken_) return tl::unexpected(*broken_);
  if (finished_.empty()) return std::optional<Judged>();
  std::optional<Judged> first = std::move(finished_.front());
  finished_.pop_front();
  return first;
}

}  // namespace tritonsmith::gym::api
