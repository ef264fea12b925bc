// Reads and writes steps, the captures and compilations of jobs, as JSON texts that pass between
// hosts. A judge's host asks for them and a capturing host does them (store_capture_pool.h,
// capture_host.h). Pure. Every text is treated as hostile, though seals tell who wrote it
// (service/redis/sealed_text.h).
#pragma once

#include <string>
#include <variant>

#include "gym/capture/capture_pool.h"

namespace tritonsmith::gym::steps {

using StepRequest = std::variant<capture::CaptureRequest, compile::CompileRequest>;
using StepOutcome = std::variant<capture::CaptureOutcome, compile::CompileOutcome>;

// A capturing host sends these with each outcome: a judge takes outcomes of one version only.
struct HostVersions {
  std::string host, torch, triton;
};

struct StepReply {
  HostVersions versions;
  StepOutcome outcome;
};

Json to_json(const StepRequest& request);
Result<StepRequest> step_request_from_json(const Json& json);
Json to_json(const HostVersions& versions);
Result<HostVersions> host_versions_from_json(const Json& json);
Json to_json(const StepReply& reply);
Result<StepReply> step_reply_from_json(const Json& json);

// Returns the name by which equal compilations find each other's result; empty for a capture, since
// a candidate is captured anew for each job.
std::string shared_name(const StepRequest& request);

}  // namespace tritonsmith::gym::steps
