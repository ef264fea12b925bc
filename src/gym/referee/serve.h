// The referee's own process: `tritonsmith gym-referee`. Serves jobs on a socket until the other
// side closes it, jailed after LibTorch is warm, so that a plan which breaks out of LibTorch finds
// nothing to break into.
//
// A request is two frames, a JSON head and a plan: {"add_task": key} with a task's, {"judge":
// {...}} with a candidate's. Replies are one JSON frame: {"added": true}, {"report": {...}},
// {"unknown_task": key}, {"error": "..."}.
#pragma once

namespace tritonsmith::gym {

// The exit code. Sends {"ready": [jail layers]} first.
int serve_referee(int socket);

}  // namespace tritonsmith::gym
