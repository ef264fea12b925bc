// Starts a CapturePool with trial_guest.py as its guest, so that tests run any Python in the zygote
// and jail.
#pragma once

#include <memory>
#include <string>

#include "gym/capture/capture_loop.h"

namespace tritonsmith::gym::capture {

inline Result<std::unique_ptr<CapturePool>> start_trial_pool(const CaptureConfig& config) {
  return CaptureLoop::start(config, sandbox::GuestModules{.packages = {TRITONSMITH_TRIAL_GUEST},
                                                          .warm = "trial_guest",
                                                          .capture = "trial_guest",
                                                          .compiler = "trial_guest"});
}

inline CaptureRequest python(std::string source) { return {.source = std::move(source)}; }

// Describes an outcome in one line: "plan {...}", "failure timeout: did not ..." or "fault ...".
inline std::string told(const CaptureOutcome& outcome) {
  if (const auto* plan = std::get_if<CapturedPlan>(&outcome.result)) return "plan " + plan->json;
  if (const auto* failure = std::get_if<sandbox::CandidateFailure>(&outcome.result))
    return fmt::format("failure {}: {}", class_name(failure->error), failure->error.message);
  return "fault " + std::get<sandbox::InfrastructureFault>(outcome.result).message;
}

}  // namespace tritonsmith::gym::capture
