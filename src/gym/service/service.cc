#include "gym/service/service.h"

namespace tritonsmith::gym::service {

Service::Service(JobStore& job_store, ServiceHealth health, ServiceMetrics& metrics,
                 const api::SubmissionLimits& limits)
    : context_{.job_store = job_store,
               .health = std::move(health),
               .metrics = metrics,
               .limits = limits,
               .stopping = stopping_.get_token()} {
  table_.add(service_routes(context_));
}

void Service::stop() {
  stopping_.request_stop();
  context_.job_store.notify();
}

}  // namespace tritonsmith::gym::service
