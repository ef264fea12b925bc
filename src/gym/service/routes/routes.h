// Lists the endpoints of the service. routes.cc lists their subjects, and each subject's file lists
// its endpoints. A new endpoint is a Route in one of these lists, and an entry in
// docs/openapi.json.
#pragma once

#include <vector>

#include "gym/service/routes/route_context.h"

namespace tritonsmith::gym::service {

// Returns all endpoints of a service but those that other folders add (serve/). The context must
// outlive them.
std::vector<Route> service_routes(const RouteContext& context);

std::vector<Route> job_routes(const RouteContext& context);         // /v1/jobs, /v1/clients
std::vector<Route> verdict_routes(const RouteContext& context);     // /v1/verdicts
std::vector<Route> status_routes(const RouteContext& context);      // status, health, metrics
std::vector<Route> quarantine_routes(const RouteContext& context);  // /v1/quarantine
std::vector<Route> kernelgym_routes(const RouteContext& context);   // /evaluate, /status, /results

// Returns the GPUs in the form of the replies of /v1/quarantine and /v1/status.
Json to_json(const std::vector<QuarantinedGpu>& gpus);

}  // namespace tritonsmith::gym::service
