// KernelEnvironment: one environment of OpenEnv's protocol: a task, and kernels that a policy submits
// turn by turn. Its actions and observations have those of OpenEnv's public kernel environment
// (kernrl) as a subset. One thread owns it. A turn that the infrastructure failed does not count.
#pragma once

#include <optional>
#include <string>

#include "data/kernel.h"
#include "serve/jobs/scoring.h"
#include "serve/mcp/server.h"

namespace tritonsmith::serve::openenv {

// The codes of OpenEnv's error messages.
enum class ErrorCode {
  invalid_json,
  unknown_type,
  validation_error,
  execution_error,
  capacity_reached
};

struct EnvironmentError {
  ErrorCode code = ErrorCode::execution_error;
  std::string message;
};
template <typename T>
using OrError = tl::expected<T, EnvironmentError>;

// How a turn is paid: by this project's reward, or by kernrl's.
enum class Pay { tritonsmith, kernrl };

struct EnvironmentContext {
  const gym::service::RouteContext& context;
  const Suite& suite;
  const mcp::McpServer& mcp;  // the tools, which OpenEnv's clients may call in an environment
  std::string device;         // for `gpu_info`
};

class KernelEnvironment {
 public:
  // `number` chooses the task where a reset names neither task nor seed.
  KernelEnvironment(const EnvironmentContext& context, gym::service::Submitter submitter,
                    std::uint64_t number);

  // Begins an episode. Returns {"observation", "reward", "done"}.
  OrError<Json> reset(const Json& options);
  bool has_episode() const { return task_.has_value(); }
  // Begins a turn. Returns its observation if it needs no judge. The turn may last as long as the
  // reset said, or else `seconds`.
  OrError<std::optional<Json>> begin_step(const Json& action, std::optional<double> seconds = {});
  bool is_judging() const { return job_.has_value(); }
  // Returns the observation of the turn under way, or nothing if `patience` ends first.
  OrError<std::optional<Json>> await_step(Milliseconds patience);
  void cancel_step();
  Json state() const;

 private:
  OrError<Json> end_step(Verdict verdict);
  Json observation(const Verdict* verdict) const;
  double reward_of(const Verdict& verdict) const;

  const EnvironmentContext& context_;
  gym::service::Submitter submitter_;
  std::uint64_t number_;

  std::optional<LabelledJob> task_;  // empty before the first reset
  std::string problem_id_, description_, episode_id_;
  Pay pay_ = Pay::tritonsmith;
  double step_seconds_ = 0;
  int turn_ = 0, max_turns_ = 0;
  double best_speedup_ = 0;
  bool is_solved_ = false;

  Kernel kernel_;         // of the turn under way
  bool is_bare_ = false;  // it came without a completion
  std::optional<JudgedJob> job_;
  Stopwatch watch_;
  double step_began_ = 0, step_limit_ = 0;
};

// The JSON Schemas of an action, an observation and a state, as GET /schema tells them.
Json environment_schema();

}  // namespace tritonsmith::serve::openenv

namespace tritonsmith {
template <>
inline constexpr auto enum_names<serve::openenv::Pay> = names<serve::openenv::Pay>(
    {{serve::openenv::Pay::tritonsmith, "tritonsmith"}, {serve::openenv::Pay::kernrl, "kernrl"}});
template <>
inline constexpr auto enum_names<serve::openenv::ErrorCode> = names<serve::openenv::ErrorCode>(
    {{serve::openenv::ErrorCode::invalid_json, "INVALID_JSON"},
     {serve::openenv::ErrorCode::unknown_type, "UNKNOWN_TYPE"},
     {serve::openenv::ErrorCode::validation_error, "VALIDATION_ERROR"},
     {serve::openenv::ErrorCode::execution_error, "EXECUTION_ERROR"},
     {serve::openenv::ErrorCode::capacity_reached, "CAPACITY_REACHED"}});
}  // namespace tritonsmith
