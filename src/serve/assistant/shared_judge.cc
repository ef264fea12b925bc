#include "serve/assistant/shared_judge.h"

namespace tritonsmith::serve::assistant {
namespace {

// New jobs wait at most so long.
constexpr Milliseconds kStep{20};

}  // namespace

struct SharedJudge::Mailbox {
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

SharedJudge::SharedJudge(gym::api::Judge& judge)
    : judge_(judge), thread_([this](const std::stop_token& stop) { loop(stop); }) {}

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
      if (flights_.empty()) changed_.wait(lock, stop, [this] { return !tasks_.empty(); });
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
    if (flights_.empty()) continue;
    auto judged = judge_.next(Deadline::after(kStep));
    if (!judged) break_down(judged.error());
    if (!judged || !*judged) continue;
    const auto at = flights_.find((*judged)->id);
    if (at == flights_.end()) continue;  // cancelled
    const Flight flight = std::move(at->second);
    flights_.erase(at);
    (*judged)->id = flight.id;
    {
      const std::lock_guard lock(mutex_);
      ++judged_;
    }
    const std::lock_guard lock(flight.mailbox->mutex);
    flight.mailbox->verdicts.push_back(**std::move(judged));
    flight.mailbox->changed.notify_all();
  }
}

void SharedJudge::break_down(const Error& error) {
  for (const auto& [id, flight] : flights_) flight.mailbox->break_down(error);
  flights_.clear();
}

JudgeClient::JudgeClient(SharedJudge& judge)
    : judge_(judge), mailbox_(std::make_shared<SharedJudge::Mailbox>()) {}

JudgeClient::~JudgeClient() {
  while (!waiting_.empty()) cancel(*waiting_.begin());
}

// A failure of the judge comes out of next().
Status JudgeClient::submit(gym::api::JudgeJob job) {
  waiting_.insert(job.id);
  judge_.post([&judge = judge_, mailbox = mailbox_, job = std::move(job)]() mutable {
    const std::uint64_t id = job.id;
    job.id = judge.next_id_++;
    judge.flights_.emplace(job.id, SharedJudge::Flight{.mailbox = mailbox, .id = id});
    const std::uint64_t own = job.id;
    const Status status = judge.judge_.submit(std::move(job));
    if (status) return;
    judge.flights_.erase(own);
    mailbox->break_down(status.error());
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
    std::erase_if(judge.flights_, [&](const auto& entry) {
      if (entry.second.mailbox != mailbox || entry.second.id != id) return false;
      judge.judge_.cancel(entry.first);
      return true;
    });
  });
}

}  // namespace tritonsmith::serve::assistant
