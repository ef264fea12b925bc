#include "gym/service/service_health.h"

#include <algorithm>

#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

ServiceHealth health_of_workers(const JobStore& job_store) {
  return {.trouble =
              [&job_store] {
                const auto workers = job_store.workers();
                return workers ? std::string() : workers.error().message;
              },
          .why_not_ready = [&job_store]() -> std::string {
            const auto workers = job_store.workers();
            if (!workers) return workers.error().message;
            if (workers->empty())
              return "no worker shares this store; start one with `tritonsmith gym work`";
            if (std::ranges::any_of(*workers, &std::string::empty, &WorkerView::trouble)) return "";
            return workers->front().host + ": " + workers->front().trouble;
          }};
}

}  // namespace tritonsmith::gym::service
