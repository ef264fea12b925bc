// Reads the words of a call. Names that commands had in an earlier version still work, with a
// warning. `help COMMAND` is `COMMAND --help`. A call that cannot be parsed is explained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/call/command.h"

namespace tritonsmith::cli {

// The words that are parsed in place of those that were typed.
std::vector<std::string> command_line(std::vector<std::string> words);

// One line, if a word that must name a command names none: what was probably meant, and where all
// commands are listed.
std::optional<std::string> unknown_command(const CLI::App& app,
                                           const std::vector<std::string>& words);

// One line: what is wrong, what was probably meant, and where to look further.
std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error);

// Remembers which settings --set of the command takes. A call that gives one of them as an option of
// its own, as in `--seconds 60`, is then told of `--set seconds=N`.
void note_settings(const CLI::App& command, std::vector<std::string> names);
template <typename Config>
void note_settings(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto& each : Config::fields()) names.push_back(each.name);
  note_settings(command, std::move(names));
}

}  // namespace tritonsmith::cli
