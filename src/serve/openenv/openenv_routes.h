// Serves OpenEnv's protocol: an environment in which a policy writes kernels for a task.
//
//   GET  /ws         a WebSocket; each connection is an environment of its own
//   POST /reset, /step, GET /state   the same without a connection; `episode_id` names the environment
//   GET  /schema, /metadata          what the environment is (/health is the service's own)
#pragma once

#include <memory>
#include <vector>

#include "serve/openenv/environment.h"

namespace tritonsmith::serve::openenv {

// The context must outlive the routes and their connections.
std::vector<gym::service::Route> openenv_routes(const EnvironmentContext& context);

// One environment over a WebSocket.
std::shared_ptr<gym::service::WebSocketSession> environment_session(
    const EnvironmentContext& context, const gym::service::Submitter& submitter,
    std::uint64_t number);

}  // namespace tritonsmith::serve::openenv
