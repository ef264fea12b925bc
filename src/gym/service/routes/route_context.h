// RouteContext: the parts of a service that its endpoints work on, and the functions that endpoints
// share. The context outlives the routes.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gym/service/job_store.h"
#include "gym/service/routes/route.h"
#include "gym/service/service_health.h"
#include "gym/service/service_metrics.h"

namespace tritonsmith::gym::service {

struct RouteContext {
  JobStore& job_store;
  ServiceHealth health;
  ServiceMetrics& metrics;
  api::SubmissionLimits limits;
  std::stop_token stopping;
};

// Waits until the job is done or cancelled, the time is over or the service stops. Returns the job
// as it is then, or nothing for an unknown one.
Result<std::optional<JobView>> await_job(const RouteContext& context, const std::string& name,
                                         double seconds);
struct SecondsRange {
  double usual = 0;  // if the query does not say
  double longest = 0;
};
Result<double> seconds_parameter(const HttpCall& call, const std::string& name,
                                 const SecondsRange& range);
// Returns status 429, with the reason why a batch was refused. `code` is for a full store.
HttpReply full_reply(const JobStoreFull& full, std::string_view code);
// Returns status 503, since the job store failed.
HttpReply store_error(const Error& error);

}  // namespace tritonsmith::gym::service
