// Suite: the tasks that a service was started with (`gym serve --suite`), by id. It never changes,
// so any thread may read it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/task.h"

namespace tritonsmith::serve {

class Suite {
 public:
  Suite() = default;
  // If two tasks have the same id, the first one counts.
  explicit Suite(std::vector<Task> tasks);

  // Returns nullptr for an unknown id.
  const Task* find(std::string_view id) const;
  // In the order of the suite.
  const std::vector<Task>& tasks() const { return tasks_; }

 private:
  std::vector<Task> tasks_;
  std::map<std::string, std::size_t, std::less<>> by_id_;
};

}  // namespace tritonsmith::serve
