#include "gym/referee/python_references.h"

namespace tritonsmith::gym::referee {

tl::expected<trial::ReferenceMode, replay::Stop> PythonReferences::mode_of(
    const std::string& task_key) {
  const auto known = modes_.find(task_key);
  if (known != modes_.end()) return known->second;
  auto mode = source_->prepare();
  if (mode) modes_[task_key] = *mode;
  return mode;
}

bool PythonReferences::may_run(const std::string& task_key) const {
  return source_ != nullptr && !failed_.contains(task_key);
}

void PythonReferences::forget_task(const std::string& task_key) {
  modes_.erase(task_key);
  failed_.erase(task_key);
}

}  // namespace tritonsmith::gym::referee
