#include "cli/turns_options.h"

namespace tritonsmith::cli {

void add_turns_options(CLI::App& command, TurnsOptions& options) {
  command
      .add_option("--turns", options.config.limit,
                  "Turns of a conversation: each later one sees the verdict of the one before")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--context", options.context,
                  "Which earlier turns a turn sees: " + all_names<text::ContextRule>())
      ->capture_default_str();
  command.add_option("--keep", options.config.keep, "--context best or last: how many of them")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--end-when", options.end_when,
                  "When a conversation ends early: " + all_names<episode::EndWhen>())
      ->capture_default_str();
  command
      .add_option("--fast", options.config.fast_speedup,
                  "The speed-up that --end-when fast asks for")
      ->capture_default_str();
}

Result<episode::TurnsConfig> turns_from(const TurnsOptions& options) {
  episode::TurnsConfig turns = options.config;
  TRY_ASSIGN(turns.context, enum_from_name<text::ContextRule>(options.context));
  TRY_ASSIGN(turns.end_when, enum_from_name<episode::EndWhen>(options.end_when));
  return turns;
}

}  // namespace tritonsmith::cli
