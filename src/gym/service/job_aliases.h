// JobAliases: the names that submitters gave their jobs in a job store, as KernelGYM's clients do with
// a task_id. Any thread may call. Nothing waits.
#pragma once

#include <string>

#include "base/error.h"

namespace tritonsmith::gym::service {

class JobAliases {
 public:
  virtual ~JobAliases() = default;
  // The newest job of that alias counts.
  virtual Status remember(const std::string& alias, const std::string& name) = 0;
  // Returns the job's name, or nothing ("") for an unknown alias.
  virtual Result<std::string> find(const std::string& alias) = 0;
};

}  // namespace tritonsmith::gym::service
