#include "gym/service/routes/routes.h"

namespace tritonsmith::gym::service {

std::vector<Route> service_routes(const RouteContext& context) {
  std::vector<Route> all;
  for (std::vector<Route> (*subject)(const RouteContext&) :
       {job_routes, verdict_routes, status_routes, quarantine_routes, kernelgym_routes})
    for (Route& route : subject(context)) all.push_back(std::move(route));
  return all;
}

}  // namespace tritonsmith::gym::service
