// Serves the interface of a NeMo Gym resources server: its agents ask here for the reward of a
// rollout.
//
//   POST /seed_session        -> {}: a rollout needs no state here
//   POST /verify              a row of a data set, and `response`, an object of OpenAI's Responses API
//                             -> the same, with `reward` and `reward_components`
//   POST /aggregate_metrics   {"verify_responses": [...]} -> figures by task, and over all
//
// A fault of the infrastructure is status 503, which its clients raise, and never a reward.
#pragma once

#include <vector>

#include "gym/service/routes/route_context.h"
#include "serve/jobs/suite.h"

namespace tritonsmith::serve::nemo_gym {

// The context and the suite must outlive the routes.
std::vector<gym::service::Route> nemo_gym_routes(const gym::service::RouteContext& context,
                                                 const Suite& suite);

// Returns the text of the last message of the assistant. Pure, of hostile JSON.
Result<std::string> response_text(const Json& response);
// Returns the means and other figures of every number in the responses. Pure.
Result<Json> aggregate_metrics(const Json& responses);

}  // namespace tritonsmith::serve::nemo_gym
