// ServiceHealth: what the status endpoints ask. Where this program judges, the dispatcher answers.
// A door without a judge of its own asks which workers share its job store.
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
};

// A door's health: ready while a worker takes jobs, in trouble while the store does not answer. It
// refers to the reports.
ServiceHealth health_of_workers(const WorkerReports& reports);

}  // namespace tritonsmith::gym::service
