#include "serve/assistant/shared_judge.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tritonsmith::serve::assistant {
namespace {

// New jobs wait at most so long.
constexpr Milliseconds kStep{20};

}  // namespace

struct SharedJudge::Mailbox {
  std::deque<gym::api::JudgeJob> waiting;  // that the judge does not have yet; of the loop's thread

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<gym::api::Judged> verdicts;
  std::optional<Error> broken;

  void break_down(const Error& error) {
    const std::lock_guard lock(mutex);
    broken = error;
    changed.notify_all();
  }
};

SharedJudge::SharedJudge(gym::api::Judge& judge, std::size_t in_flight)
    : judge_(judge),
      in_flight_(in_flight),
      thread_([this](const std::stop_token& stop) { loop(stop); }) {}

std::size_t SharedJudge::jobs_for_this_machine() {
  constexpr std::size_t each = 4, least = 16;
  return std::max<std::size_t>(least, each * std::thread::hardware_concurrency());
}

SharedJudge::~SharedJudge() {
  thread_.request_stop();
  changed_.notify_all();
}

std::unique_ptr<JudgeClient> SharedJudge::connect() { return std::make_unique<JudgeClient>(*this); }

std::uint64_t SharedJudge::judged() const {
  const std::lock_guard lock(mutex_);
  return judged_;
}

void SharedJudge::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void SharedJudge::loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::deque<std::function<void()>> tasks;
    {
      std::unique_lock lock(mutex_);
      if (pending_.empty()) changed_.wait(lock, stop, [this] { return !tasks_.empty(); });
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
    submit_round_robin();
    if (pending_.empty()) continue;
    auto judged = judge_.next(Deadline::after(kStep));
    if (!judged) break_down(judged.error());
    if (!judged || !*judged) continue;
    const auto at = pending_.find((*judged)->id);
    if (at == pending_.end()) continue;  // cancelled
    const PendingJob pending = std::move(at->second);
    pending_.erase(at);
    (*judged)->id = pending.id;
    {
      const std::lock_guard lock(mutex_);
      ++judged_;
    }
    const std::lock_guard lock(pending.mailbox->mutex);
    pending.mailbox->verdicts.push_back(**std::move(judged));
    pending.mailbox->changed.notify_all();
  }
}

void SharedJudge::submit_round_robin() {
  while (pending_.size() < in_flight_ && !round_robin_.empty()) {
    const std::shared_ptr<Mailbox> mailbox = std::move(round_robin_.front());
    round_robin_.pop_front();
    gym::api::JudgeJob job = std::move(mailbox->waiting.front());
    mailbox->waiting.pop_front();
    if (!mailbox->waiting.empty()) round_robin_.push_back(mailbox);
    const std::uint64_t own = next_id_++;
    pending_.emplace(own, PendingJob{.mailbox = mailbox, .id = std::exchange(job.id, own)});
    if (const Status status = judge_.submit(std::move(job)); !status) {
      pending_.erase(own);
      mailbox->break_down(status.error());
    }
  }
}

void SharedJudge::break_down(const Error& error) {
  for (const auto& [id, pending] : pending_) pending.mailbox->break_down(error);
  pending_.clear();
  for (const auto& mailbox : round_robin_) {
    mailbox->waiting.clear();
    mailbox->break_down(error);
  }
  round_robin_.clear();
}

JudgeClient::JudgeClient(SharedJudge& judge)
    : judge_(judge), mailbox_(std::make_shared<SharedJudge::Mailbox>()) {}

// The latest jobs go first: the judge has the earliest ones, and one of these that ended would make room for a
// job that is cancelled next.
JudgeClient::~JudgeClient() {
  while (!waiting_.empty()) cancel(*std::prev(waiting_.end()));
}

// A failure of the judge comes out of next().
Status JudgeClient::submit(gym::api::JudgeJob job) {
  waiting_.insert(job.id);
  judge_.post([&judge = judge_, mailbox = mailbox_, job = std::move(job)]() mutable {
    if (mailbox->waiting.empty()) judge.round_robin_.push_back(mailbox);
    mailbox->waiting.push_back(std::move(job));
  });
  return ok();
}

Result<std::optional<gym::api::Judged>> JudgeClient::next(Deadline deadline) {
  std::unique_lock lock(mailbox_->mutex);
  while (!waiting_.empty()) {
    const auto is_ready = [this] { return !mailbox_->verdicts.empty() || mailbox_->broken; };
    if (deadline.at() == TimePoint::max())
      mailbox_->changed.wait(lock, is_ready);
    else
      mailbox_->changed.wait_until(lock, deadline.at(), is_ready);
    if (mailbox_->verdicts.empty()) {
      if (mailbox_->broken) return tl::unexpected(*mailbox_->broken);
      break;
    }
    gym::api::Judged judged = std::move(mailbox_->verdicts.front());
    mailbox_->verdicts.pop_front();
    if (waiting_.erase(judged.id) > 0) return std::optional(std::move(judged));
  }
  return std::optional<gym::api::Judged>();
}

void JudgeClient::cancel(std::uint64_t id) {
  if (waiting_.erase(id) == 0) return;
  judge_.post([&judge = judge_, mailbox = mailbox_, id] {
    std::erase_if(mailbox->waiting, [id](const auto& job) { return job.id == id; });
    if (mailbox->waiting.empty()) std::erase(judge.round_robin_, mailbox);
    std::erase_if(judge.pending_, [&](const auto& entry) {
      if (entry.second.mailbox != mailbox || entry.second.id != id) return false;
      judge.judge_.cancel(entry.first);
      return true;
    });
  });
}

}  // namespace tritonsmith::serve::assistant
