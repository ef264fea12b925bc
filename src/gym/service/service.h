// Service: what `gym serve` answers to each HTTP call, as a function of the call and the job store.
// The endpoints are in routes/, sockets in http/. Any thread; a call waits only where the caller
// asked it to. The API is docs/openapi.json, explained in docs/service.md.
#pragma once

#include "gym/service/routes/routes.h"

namespace tritonsmith::gym::service {

class Service {
 public:
  Service(JobStore& job_store, const JobDispatcher& dispatcher, ServiceMetrics& metrics,
          const api::SubmissionLimits& limits);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Adds endpoints that the gym itself does not know, before the first call.
  void add(std::vector<Route> routes) { table_.add(std::move(routes)); }
  const std::vector<Route>& routes() const { return table_.routes(); }

  HttpReply answer(const HttpCall& call) const { return table_.answer(call); }
  // Whether the path is answered to anybody.
  bool is_public(const std::string& path) const { return table_.is_public(path); }

  // The next piece of a stream: verdicts, a sign of life, or "" when it is over. Waits for at most
  // `patience`.
  std::string next_events(StreamRequest& stream, Milliseconds patience) const;
  // Lets everybody go who waits, for good.
  void stop();

 private:
  std::stop_source stopping_;
  RouteContext context_;
  RouteTable table_;
};

// docs/openapi.json.
std::string_view openapi_document();

}  // namespace tritonsmith::gym::service
