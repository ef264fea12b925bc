#include "cli/setup/turns_options.h"

#include <fmt/format.h>

#include "base/config.h"
#include "base/json.h"

namespace tritonsmith::cli {
namespace {

// Refuses what the setting of this name refuses.
CLI::Validator as_setting(const std::string& name) {
  return {[name](const std::string& text) -> std::string {
            const auto value = parse_json(text);
            if (!value || !value->is_number()) return fmt::format("'{}' is no number", text);
            generate::SamplingParams any;
            const Status set = apply_settings(any, {{name, *value}}, "sampling");
            return set ? "" : set.error().message;
          },
          "NUMBER"};
}

}  // namespace

void add_sampling_options(CLI::App& command, generate::SamplingParams& sampling) {
  command
      .add_option("--temperature", sampling.temperature,
                  "1 samples from the model's own distribution, 0 takes the likeliest token")
      ->check(as_setting("temperature"));
  command
      .add_option("--top-p", sampling.top_p,
                  "Take only the likeliest tokens that together have this probability")
      ->check(as_setting("top_p"));
  command
      .add_option("--top-k", sampling.top_k,
                  "Take only this many of the likeliest tokens; 0: no limit")
      ->check(as_setting("top_k"));
  command.add_option("--stop", sampling.stop, "A string that ends a completion (repeatable)");
}

void add_turns_options(CLI::App& command, episode::TurnsConfig& turns) {
  command
      .add_option(
          "--turns", turns.limit,
          "How many turns a conversation has. Each later turn sees the verdict of the one before")
      ->check(CLI::Range(1, 1000));
  add_choice(command, "--context", turns.context, "Which earlier turns a turn sees");
  command.add_option("--keep", turns.keep, "How many turns --context best or last keeps")
      ->check(CLI::Range(1, 1000));
  add_choice(command, "--end-when", turns.end_when, "When a conversation ends early");
  command.add_option("--fast", turns.fast_speedup, "The speed-up that --end-when fast asks for");
}

}  // namespace tritonsmith::cli
