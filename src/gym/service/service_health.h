// ServiceHealth: answers the status endpoints' questions. If this program judges, its dispatcher
// answers them. An API server has no judge, so it asks the job store which workers there are.
#pragma once

#include <functional>
#include <string>

namespace tritonsmith::gym::service {

class WorkerReports;

// Any thread may call the functions.
struct ServiceHealth {
  // Returns why no verdicts come, in one line; empty while they come.
  std::function<std::string()> trouble;
  // Returns why no jobs are taken, in one line; empty while they are.
  std::function<std::string()> why_not_ready;
  // Returns why the last judge did not start, in one line; empty if it did. An API server does not know it.
  std::function<std::string()> failed_start = {};
};

// The health of an API server: ready while a worker takes jobs, in trouble while the store does not answer. It
// refers to the reports.
ServiceHealth health_of_workers(const WorkerReports& reports);

}  // namespace tritonsmith::gym::service
