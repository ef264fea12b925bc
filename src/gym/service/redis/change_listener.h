// ChangeListener: counts the changes that any program makes in a Redis job store. Its thread
// subscribes to channels that the scripts publish to, and connects again when the link was cut. All
// changes during the cut count as one. Any thread may call it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "gym/service/redis/redis_connection.h"

namespace tritonsmith::gym::service {

class ChangeListener {
 public:
  ChangeListener(RedisAddress address, std::vector<std::string> channels);
  ~ChangeListener();

  // Returns a number that grows with every change, perhaps once for several changes that come
  // close together.
  std::uint64_t changes() const;
  void wait_for_change(std::uint64_t seen, Deadline deadline) const;
  // Counts a change that this program made, or that a caller must notice.
  void count_change();

 private:
  void run(const std::stop_token& stop);
  Status listen(const std::stop_token& stop);

  RedisAddress address_;
  std::vector<std::string> channels_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t changes_ = 1;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::service
