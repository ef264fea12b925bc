// A reinforcement learning run that kill_and_resume.py kills. It is the real loop with a model of
// random weights. The engine writes whole answers around letters that it samples, and a slow
// judge decides by these letters. The program prints a line when it judges.
//
//   rl_probe model DIR        writes the initial model
//   rl_probe run RUN_DIR MODEL_DIR STEPS [STALENESS [share]]
#include <fmt/format.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "distributed/join.h"
#include "gym/api/testing/fake_judge.h"
#include "train/rl/rl.h"
#include "train/rl/testing/pattern_engine.h"
#include "train/run/testing/tiny_model.h"

namespace tritonsmith::train {
namespace {

// Unbuffered, so that the line appears before the verdict.
void say(std::string_view line) {
  CHECK(::write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size()),
        "nobody reads what the probe says");
}

// About a millisecond of work for each verdict.
Verdict judge_slowly(const gym::api::JudgeJob& job) {
  say("judging\n");
  std::string digest = job.kernel;
  for (int i = 0; i < 2000; ++i) digest = content_key(digest);
  const bool is_right = job.kernel[0] <= 'd' || (job.kernel[0] == 'e' && digest[0] < '8');
  return is_right ? gym::api::accepted_verdict()
                  : gym::api::failed_verdict(Stage::compiled, ErrorClass::wrong_value);
}

RlConfig config_for(const std::string& directory, const std::string& model, std::int64_t steps) {
  RlConfig config;
  config.run = {.dir = directory, .seed = 5, .steps = steps};
  config.model = {.path = model, .device = model::DeviceChoice::cpu};
  config.prompt.style = text::PromptStyle::compact;
  config.rollout = {.prompts = 2, .samples = 4, .sampling = {.max_new_tokens = 64}};
  config.algorithm.kl_beta = 0.01;
  config.algorithm.epochs = 2;
  config.algorithm.minibatches = 2;
  config.optimizer.learning_rate = 0.003;
  config.checkpoint = {.every = 2, .keep_last = 2};
  return config;
}

Status run_probe(const RlConfig& config, distributed::Ranks& ranks) {
  TRY_ASSIGN(
      const auto tokenizer,
      text::Tokenizer::from_file(std::filesystem::path(config.model.path) / "tokenizer.json"));
  std::vector<Task> tasks;
  for (const char* id : {"t1", "t2", "t3", "t4", "t5"})
    tasks.push_back({.id = id, .suite = "test", .source = "x", .instruction = id});
  gym::api::FakeJudge judge(judge_slowly);
  const RlParts parts{
      .judge = judge,
      .make_engine =
          [&](const model::Transformer& weights) -> Result<std::unique_ptr<generate::TokenEngine>> {
        return std::make_unique<PatternEngine>(weights, tokenizer);
      },
      .references = {},
      .ranks = ranks};
  const StopFlag stop = false;
  TRY_ASSIGN(const auto summary, run_rl(config, tasks, parts, stop));
  fmt::print("finished {}\n", summary.steps);
  return ok();
}

// Runs as one of several ranks if the environment says so.
Status run_as_rank(const RlConfig& config) {
  TRY_ASSIGN(const auto launch, distributed::launch_info_from(distributed::process_environment()));
  TRY_ASSIGN(const auto ranks, distributed::join(launch));
  const Status status = run_probe(config, *ranks);
  ranks->end(status);
  return status;
}

}  // namespace
}  // namespace tritonsmith::train

int main(int argc, char** argv) {
  using namespace tritonsmith;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "model") {
    train::make_tiny_model(arguments[1]);
    return 0;
  }
  CHECK(arguments.size() >= 4 && arguments.size() <= 6 && arguments[0] == "run",
        "rl_probe run RUN_DIR MODEL_DIR STEPS [STALENESS [share]]");
  set_log_level(LogLevel::quiet);
  train::RlConfig config = train::config_for(arguments[1], arguments[2], std::stoll(arguments[3]));
  if (arguments.size() >= 5) config.rollout.staleness = std::stoi(arguments[4]);
  if (arguments.size() == 6) config.optimizer.share_prompts = train::SharePrompts::on;
  const Status status = train::run_as_rank(config);
  if (!status) fmt::print(stderr, "rl_probe: {}\n", status.error().message);
  return status ? 0 : 1;
}
