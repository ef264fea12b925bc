// PythonReferences: which tasks the Python reference runs, and how. It runs forward of tasks whose
// plan lacks it or does not replay.
#pragma once

#include <map>
#include <set>
#include <string>

#include "gym/trial/reference_source.h"

namespace tritonsmith::gym::referee {

class PythonReferences {
 public:
  // Must outlive this. Without a source no such task can be judged.
  void use(trial::ReferenceSource* source) { source_ = source; }
  trial::ReferenceSource* source() const { return source_; }

  // The mode in which the task's forward draws nothing at random. The source is asked once a task.
  tl::expected<trial::ReferenceMode, replay::Stop> mode_of(const std::string& task_key);
  // Whether the task is worth a try: there is a source, and the task has not failed in Python.
  bool may_run(const std::string& task_key) const;
  void note_failure(const std::string& task_key) { failed_.insert(task_key); }
  void forget_tasks();

 private:
  trial::ReferenceSource* source_ = nullptr;
  std::map<std::string, trial::ReferenceMode> modes_;
  std::set<std::string> failed_;  // tasks that neither replay nor run in Python
};

}  // namespace tritonsmith::gym::referee
