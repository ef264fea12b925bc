#include "gym/service/redis/change_listener.h"

#include "base/log.h"

namespace tritonsmith::gym::service {

ChangeListener::ChangeListener(RedisAddress address, std::vector<std::string> channels)
    : address_(std::move(address)),
      channels_(std::move(channels)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

ChangeListener::~ChangeListener() {
  thread_.request_stop();
  count_change();
}

std::uint64_t ChangeListener::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void ChangeListener::wait_for_change(std::uint64_t seen, Deadline deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.at(), [&] { return changes_ != seen; });
}

void ChangeListener::count_change() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  changed_.notify_all();
}

void ChangeListener::run(const std::stop_token& stop) {
  constexpr Milliseconds pause = std::chrono::milliseconds(200);
  bool is_connected = true;  // so that the first failure is told
  while (!stop.stop_requested()) {
    const Status listened = listen(stop);
    if (stop.stop_requested()) return;
    if (!listened && is_connected) LOG("gym: {}", listened.error().message);
    is_connected = listened.has_value();
    count_change();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
  }
}

// Returns when the link breaks. It fails if there is no link at all.
Status ChangeListener::listen(const std::stop_token& stop) {
  TRY_ASSIGN(const auto connection, RedisConnection::open(address_, std::chrono::seconds(10)));
  const std::stop_callback end(stop, [&] { connection->shut_down(); });
  std::vector<std::string_view> words = {"SUBSCRIBE"};
  words.insert(words.end(), channels_.begin(), channels_.end());
  TRY(connection->command(words));
  count_change();  // for all that happened before
  while (!stop.stop_requested()) {
    const auto message = connection->next_message();
    if (!message) return ok();
    if (!message->empty()) count_change();
  }
  return ok();
}

}  // namespace tritonsmith::gym::service
