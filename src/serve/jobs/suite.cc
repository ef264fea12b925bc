#include "serve/jobs/suite.h"

namespace tritonsmith::serve {

Suite::Suite(std::vector<Task> tasks) : tasks_(std::move(tasks)) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) by_id_.emplace(tasks_[i].id, i);
}

const Task* Suite::find(std::string_view id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : &tasks_[at->second];
}

}  // namespace tritonsmith::serve
