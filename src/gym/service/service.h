// Service: answers each HTTP call of `gym serve`, as a function of the call and the job store. The
// endpoints are in routes/, sockets in http/. Any thread may call it. A call waits only if its
// client asked for that (`?wait=`). docs/openapi.json describes the API, and docs/service.md
// explains it.
#pragma once

#include <atomic>

#include "gym/service/routes/routes.h"

namespace tritonsmith::gym::service {

class Service {
 public:
  Service(JobStore& job_store, ServiceHealth health, ServiceMetrics& metrics,
          const api::SubmissionLimits& limits);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Adds endpoints that the gym itself does not have. Aborts once a call has been answered, because
  // other threads read the table then.
  void add(std::vector<Route> routes);
  const std::vector<Route>& routes() const { return table_.routes(); }

  HttpReply answer(const HttpCall& call) const;
  // Says whether the path is answered without a token.
  bool is_public(const std::string& path) const { return table_.is_public(path); }

  // The parts that added endpoints work with. They live as long as the service.
  const RouteContext& context() const { return context_; }
  // Ends all waiting calls. From now on no call waits.
  void stop();

 private:
  std::stop_source stopping_;
  RouteContext context_;
  RouteTable table_;
  mutable std::atomic<bool> has_answered_ = false;
};

// Returns docs/openapi.json.
std::string_view openapi_document();

}  // namespace tritonsmith::gym::service
