// PythonReferences: tracks which tasks the Python reference runs, and in which mode. It runs
// forward of tasks whose plan lacks it or does not replay.
#pragma once

#include <map>
#include <set>
#include <string>

#include "gym/trial/reference_source.h"

namespace tritonsmith::gym::referee {

class PythonReferences {
 public:
  // The source must outlive this object. Without a source no such task can be judged.
  void use(trial::ReferenceSource* source) { source_ = source; }
  trial::ReferenceSource* source() const { return source_; }

  // Returns the mode in which the task's forward draws nothing at random. Asks the source once
  // for each task.
  tl::expected<trial::ReferenceMode, replay::Stop> mode_of(const std::string& task_key);
  // Says whether to try the task in Python: there is a source, and the task has not failed there.
  bool may_run(const std::string& task_key) const;
  void note_failure(const std::string& task_key) { failed_.insert(task_key); }
  void forget_task(const std::string& task_key);

 private:
  trial::ReferenceSource* source_ = nullptr;
  std::map<std::string, trial::ReferenceMode> modes_;
  std::set<std::string> failed_;  // tasks that neither replay nor run in Python
};

}  // namespace tritonsmith::gym::referee
