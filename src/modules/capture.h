// Runs the user's own command once, in the user's own Python, and records the modules and the named
// functions that it calls. The command is trusted: it runs outside the sandbox, with the user's rights, as if the
// user had typed it. The Python in python/tritonsmith_modules/capture.py records. It comes in by
// PYTHONPATH, so each process that the command starts is recorded too. One thread may run a capture
// at a time: meanwhile SIGINT and SIGTERM go to the command.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "modules/captured.h"

namespace tritonsmith::modules {

struct CaptureRequest {
  std::vector<std::string> command;
  // Functions are recorded only if they are named; of modules all calls are.
  std::vector<std::string> names;
  std::optional<std::chrono::seconds> limit;  // then the command gets the signal of Ctrl-C
};

struct Capture {
  std::vector<CapturedModule> modules;  // joined, at least one
  // "exited with code 1", or "was stopped after 60 s". Empty: the command ended well.
  std::string ending;
};

// Fails if the command cannot be started, or calls no module and none of the functions.
Result<Capture> capture(const CaptureRequest& request);

}  // namespace tritonsmith::modules
