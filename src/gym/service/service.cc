#include "gym/service/service.h"

#include "base/check.h"

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

void Service::add(std::vector<Route> routes) {
  CHECK(!has_answered_, "calls are being answered");
  table_.add(std::move(routes));
}

HttpReply Service::answer(const HttpCall& call) const {
  has_answered_ = true;
  return table_.answer(call);
}

void Service::stop() {
  stopping_.request_stop();
  context_.job_store.notify();
}

}  // namespace tritonsmith::gym::service
