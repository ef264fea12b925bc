#include "cli/setup/turns_options.h"

namespace tritonsmith::cli {

void add_turns_options(CLI::App& command, episode::TurnsConfig& turns) {
  command
      .add_option("--turns", turns.limit,
                  "Turns of a conversation: each later one sees the verdict of the one before")
      ->check(CLI::Range(1, 1000));
  add_choice(command, "--context", turns.context, "Which earlier turns a turn sees");
  command.add_option("--keep", turns.keep, "--context best or last: how many of them")
      ->check(CLI::Range(1, 1000));
  add_choice(command, "--end-when", turns.end_when, "When a conversation ends early");
  command.add_option("--fast", turns.fast_speedup, "The speed-up that --end-when fast asks for");
}

}  // namespace tritonsmith::cli
