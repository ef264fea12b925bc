// Gives rewards by URL, for trainers that know only a URL: OpenRLHF's `--reward.remote_url` and
// slime's `--rm-type remote_rm --rm-url`. Their clients give up after 180 s and 120 s, and repeat.
// So a call is answered before, or refused with status 503, and a repeat finds the verdicts of the
// first call. A fault of the infrastructure is never a number.
//
//   POST /v1/reward/openrlhf                     -> {"rewards": [], "scores": [], "extra_logs": {}}
//   POST /v1/reward/slime[?reward_key=NAME]      -> a number, or an object with the member NAME
#pragma once

#include <vector>

#include "gym/service/routes/route_context.h"
#include "serve/jobs/suite.h"

namespace tritonsmith::serve {

// The context and the suite must outlive the routes.
std::vector<gym::service::Route> reward_routes(const gym::service::RouteContext& context,
                                               const Suite& suite);

}  // namespace tritonsmith::serve
