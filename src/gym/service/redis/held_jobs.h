// HeldJobs: by worker, the jobs that this program took from a RedisJobStore. A job whose take() got no
// reply is not among them, so its lease ends, and another worker takes it. Any thread may call.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tritonsmith::gym::service {

class HeldJobs {
 public:
  void add(const std::string& worker, const std::string& name) {
    const std::lock_guard lock(mutex_);
    held_[worker].insert(name);
  }
  void remove(const std::string& worker, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (const auto at = held_.find(worker); at != held_.end()) at->second.erase(name);
  }
  std::vector<std::string> of(const std::string& worker) const {
    const std::lock_guard lock(mutex_);
    const auto at = held_.find(worker);
    if (at == held_.end()) return {};
    return {at->second.begin(), at->second.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::set<std::string>> held_;
};

}  // namespace tritonsmith::gym::service
