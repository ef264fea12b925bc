#include "serve/openenv/environment.h"

#include <algorithm>

#include "base/rng.h"
#include "gym/api/missing_kernel.h"
#include "reward/terms.h"
#include "text/extract.h"
#include "text/feedback.h"
#include "text/prompt.h"

namespace tritonsmith::serve::openenv {
namespace {

constexpr double kSolvedSpeedup = 1.05;   // kernrl's
constexpr double kUsualStepSeconds = 55;  // OpenEnv's client waits 60 s for an answer
constexpr double kLongestStepSeconds = 3600;
constexpr int kUsualTurns = 10, kMostTurns = 1000;

tl::unexpected<EnvironmentError> wrong(std::string message) {
  return tl::unexpected<EnvironmentError>(
      {.code = ErrorCode::validation_error, .message = std::move(message)});
}
tl::unexpected<EnvironmentError> failed(std::string message) {
  return tl::unexpected<EnvironmentError>({.message = std::move(message)});
}

// Returns the task that a reset names by id, by a part of it, or as kernrl would: L1_19_ReLU for
// level1/19_ReLU.
const Task* task_named(const Suite& suite, const std::string& name) {
  if (const Task* task = suite.find(name)) return task;
  const std::size_t bar = name.find('_');
  if (name.starts_with('L') && bar != std::string::npos)
    if (const Task* task =
            suite.find("level" + name.substr(1, bar - 1) + "/" + name.substr(bar + 1)))
      return task;
  const auto at = std::ranges::find_if(
      suite.tasks(), [&](const Task& task) { return task.id.find(name) != std::string::npos; });
  return at == suite.tasks().end() ? nullptr : &*at;
}

// kernrl's reward: -0.5 if the kernel does not compile, -0.25 if it is wrong or refused, and else by
// the speed-up, which is 0 where no GPU measured it.
double kernrl_reward(const Verdict& verdict) {
  constexpr double not_compiled = -0.5, not_correct = -0.25, cap = 2.0;
  if (!verdict.compiled) return not_compiled;
  if (!verdict.accepted) return not_correct;
  if (!verdict.speedup) return 0;
  const double gain = *verdict.speedup - 1;
  return gain > 0 ? std::min(gain, cap) : gain / 2;
}

Json maybe(const auto& value) { return value ? Json(*value) : Json(); }

}  // namespace

KernelEnvironment::KernelEnvironment(const EnvironmentContext& context,
                                     gym::service::Submitter submitter, std::uint64_t number)
    : context_(context), submitter_(std::move(submitter)), number_(number) {}

OrError<Json> KernelEnvironment::reset(const Json& options) {
  if (!options.is_object()) return wrong("the options of a reset must be an object");
  cancel_step();
  JsonReader reader(options);
  const std::string problem = reader.string("problem_id", "");
  const std::string episode = reader.string("episode_id", "");
  const std::int64_t seed = reader.integer("seed", -1);
  const std::int64_t turns = reader.integer("max_turns", kUsualTurns);
  const double seconds = reader.number("step_seconds", kUsualStepSeconds);
  const Pay pay = reader.enumerated("reward", std::optional(Pay::tritonsmith));
  if (const auto read = reader.status(); !read) return wrong(read.error().message);
  if (turns < 1 || turns > kMostTurns)
    return wrong(fmt::format("max_turns must lie between 1 and {}", kMostTurns));
  if (!(seconds > 0 && seconds <= kLongestStepSeconds))
    return wrong(fmt::format("step_seconds must be positive, and at most {}", kLongestStepSeconds));
  Json label = options;
  if (!problem.empty()) {
    const Task* task = task_named(context_.suite, problem);
    if (task == nullptr) return wrong(fmt::format("there is no problem '{}'", problem));
    label["task"] = task->id;
  } else if (!options.contains("task")) {
    const auto& tasks = context_.suite.tasks();
    if (tasks.empty()) return wrong("name a task: this service was started without --suite");
    Rng rng(seed >= 0 ? static_cast<std::uint64_t>(seed) : number_, "openenv.task", number_);
    label["task"] =
        tasks[seed >= 0 ? static_cast<std::size_t>(seed) % tasks.size() : rng.below(tasks.size())]
            .id;
  }
  auto job = job_from_label(label, context_.suite, context_.context.limits);
  if (!job) return wrong(job.error().message);
  task_ = *std::move(job);
  const Task& task = task_->submission.job.task;
  problem_id_ = task.id;
  description_ = text::prompt_for(task, {}).back().content;
  episode_id_ = episode;
  pay_ = pay;
  step_seconds_ = seconds;
  max_turns_ = static_cast<int>(turns);
  turn_ = 0;
  best_speedup_ = 0;
  is_solved_ = false;
  return Json{{"observation", observation(nullptr)}, {"reward", nullptr}, {"done", false}};
}

OrError<std::optional<Json>> KernelEnvironment::begin_step(const Json& action,
                                                           std::optional<double> seconds) {
  if (!task_) return failed("reset the environment first");
  if (!action.is_object()) return wrong("an action must be an object with `code` or `completion`");
  if (seconds && !(*seconds > 0 && *seconds <= kLongestStepSeconds))
    return wrong(fmt::format("timeout_s must be positive, and at most {}", kLongestStepSeconds));
  step_limit_ = seconds.value_or(step_seconds_);
  JsonReader reader(action);
  const std::string code = reader.string("code", ""), text = reader.string("completion", "");
  if (const auto read = reader.status(); !read) return wrong(read.error().message);
  if (reader.has("code") == reader.has("completion"))
    return wrong("an action must have `code` (a kernel) or `completion` (a text with a kernel)");
  is_bare_ = reader.has("code");
  kernel_ = is_bare_ ? Kernel{.source = code} : text::extract_kernel(text);
  const std::size_t longest = context_.context.limits.source_bytes;
  if (kernel_.source.size() > longest)
    return wrong(fmt::format("a kernel may have at most {} bytes", longest));
  const gym::api::JudgeJob& job = task_->submission.job;
  if (kernel_.source.empty()) {
    auto ended = end_step(gym::api::missing_kernel_verdict(job.task, kernel_, job.policy));
    if (!ended) return tl::unexpected(ended.error());
    return std::optional<Json>(*std::move(ended));
  }
  gym::api::Submission submission = task_->submission;
  submission.job.kernel = kernel_.source;
  job_.emplace(context_.context, std::move(submission), submitter_);
  step_began_ = watch_.seconds();
  return std::optional<Json>();
}

OrError<std::optional<Json>> KernelEnvironment::await_step(Milliseconds patience) {
  auto verdict = job_->wait(Deadline::after(patience));
  if (!verdict && verdict.error().reason == NoVerdict::pending &&
      watch_.seconds() < step_began_ + step_limit_)
    return std::optional<Json>();
  job_.reset();
  if (!verdict)
    return failed("no verdict, by no fault of the kernel; send the step again: " +
                  with_trouble(context_.context, verdict.error()).message);
  auto ended = end_step(*std::move(verdict));
  if (!ended) return tl::unexpected(ended.error());
  return std::optional<Json>(*std::move(ended));
}

void KernelEnvironment::cancel_step() {
  if (job_) job_->cancel();
  job_.reset();
}

OrError<Json> KernelEnvironment::end_step(Verdict verdict) {
  ++turn_;
  const double speedup = verdict.accepted ? verdict.speedup.value_or(0) : 0;
  best_speedup_ = std::max(best_speedup_, speedup);
  is_solved_ = is_solved_ || (verdict.accepted && (!verdict.speedup || speedup > kSolvedSpeedup));
  return Json{{"observation", observation(&verdict)},
              {"reward", reward_of(verdict)},
              {"done", is_solved_ || turn_ >= max_turns_}};
}

double KernelEnvironment::reward_of(const Verdict& verdict) const {
  if (pay_ == Pay::kernrl) return kernrl_reward(verdict);
  reward::RewardConfig weights = task_->weights;
  if (is_bare_) weights.format = 0;  // a bare kernel has no format to reward
  const auto reward = reward::score({.kernel = kernel_, .verdict = verdict}, weights, {});
  CHECK(reward, "a verdict without a reward is no verdict here");
  return reward->total;
}

Json KernelEnvironment::observation(const Verdict* verdict) const {
  Json seen = {{"problem_id", problem_id_},
               {"problem_description", description_},
               {"reference_code", task_->submission.job.task.source},
               {"gpu_info", context_.device},
               {"turn", turn_},
               {"max_turns", max_turns_},
               {"feedback", ""},
               {"compilation_success", verdict == nullptr || verdict->compiled},
               {"compilation_error", nullptr},
               {"correctness_pass", nullptr},
               {"max_diff", nullptr},
               {"speedup", nullptr},
               {"episode_id", episode_id_.empty() ? Json() : Json(episode_id_)},
               {"accepted", nullptr},
               {"verdict", nullptr}};
  if (verdict == nullptr) return seen;
  seen["feedback"] = text::feedback_text(*verdict, text::PromptStyle::full);
  if (!verdict->compiled && verdict->error) seen["compilation_error"] = verdict->error->message;
  if (verdict->compiled) seen["correctness_pass"] = verdict->accepted;
  if (verdict->numerics) seen["max_diff"] = verdict->numerics->max_abs;
  seen["speedup"] = maybe(verdict->speedup);
  seen["accepted"] = verdict->accepted;
  seen["verdict"] = to_json(*verdict);
  return seen;
}

Json KernelEnvironment::state() const {
  return {{"episode_id", episode_id_.empty() ? Json() : Json(episode_id_)},
          {"step_count", turn_},
          {"problem_id", task_ ? Json(problem_id_) : Json()},
          {"turn", turn_},
          {"max_turns", max_turns_},
          {"best_speedup", best_speedup_},
          {"solved", is_solved_}};
}

Json environment_schema() {
  const Json text = {{"type", "string"}}, number = {{"type", "number"}},
             flag = {{"type", "boolean"}}, whole = {{"type", "integer"}};
  const auto or_null = [](Json schema) {
    return Json{{"anyOf", {std::move(schema), {{"type", "null"}}}}};
  };
  const auto object = [](Json properties) {
    return Json{{"type", "object"}, {"properties", std::move(properties)}};
  };
  return {{"action", object({{"code", text},
                             {"completion", text},
                             {"metadata", {{"type", "object"}}},
                             {"type", {{"type", "string"}, {"enum", {"list_tools", "call_tool"}}}},
                             {"tool_name", text},
                             {"arguments", {{"type", "object"}}}})},
          {"observation", object({{"problem_id", text},
                                  {"problem_description", text},
                                  {"reference_code", text},
                                  {"gpu_info", text},
                                  {"turn", whole},
                                  {"max_turns", whole},
                                  {"feedback", text},
                                  {"compilation_success", flag},
                                  {"compilation_error", or_null(text)},
                                  {"correctness_pass", or_null(flag)},
                                  {"max_diff", or_null(number)},
                                  {"speedup", or_null(number)},
                                  {"episode_id", or_null(text)},
                                  {"accepted", or_null(flag)},
                                  {"verdict", or_null({{"type", "object"}})}})},
          {"state", object({{"episode_id", or_null(text)},
                            {"step_count", whole},
                            {"problem_id", or_null(text)},
                            {"turn", whole},
                            {"max_turns", whole},
                            {"best_speedup", number},
                            {"solved", flag}})}};
}

}  // namespace tritonsmith::serve::openenv
