#include "gym/service/service_health.h"

#include <algorithm>

#include "gym/service/worker_reports.h"

namespace tritonsmith::gym::service {

ServiceHealth health_of_workers(const WorkerReports& reports) {
  return {.trouble =
              [&reports] {
                const auto workers = reports.workers();
                return workers ? std::string() : workers.error().message;
              },
          .why_not_ready = [&reports]() -> std::string {
            const auto workers = reports.workers();
            if (!workers) return workers.error().message;
            if (workers->empty())
              return "no worker shares this store; start one with `tritonsmith gym work`";
            const auto judges = [](const WorkerView& worker) { return worker.role != "capture"; };
            const auto judge = std::ranges::find_if(*workers, judges);
            if (judge == workers->end())
              return "hosts capture for this store, but none judges; start one with `tritonsmith "
                     "gym work --role judge`";
            if (std::ranges::any_of(*workers, [&](const WorkerView& worker) {
                  return judges(worker) && worker.trouble.empty();
                }))
              return "";
            return judge->host + ": " + judge->trouble;
          }};
}

}  // namespace tritonsmith::gym::service
