#include "cli/call/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/config.h"
#include "base/log.h"

namespace tritonsmith::cli {
namespace {

struct Renamed {
  std::string_view old_name;
  std::vector<std::string> words;
};

// The names that commands had in the previous version.
const std::vector<Renamed>& renamed_commands() {
  static const std::vector<Renamed> all = {{"rloop", {"tasks", "from-run"}}};
  return all;
}

// Returns the innermost command that the call chose.
const CLI::App& chosen_of(const CLI::App& app) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  return *chosen;
}

std::string path_of(const CLI::App& app) {
  std::string path;
  for (const CLI::App* at = &app; at->get_parent() != nullptr; at = at->get_parent())
    path = at->get_name() + (path.empty() ? "" : " ") + path;
  return path;
}

// Returns "did you mean '--task'?".
std::string near_option(const CLI::App& command, std::string_view wanted) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  wanted.remove_prefix(std::min(wanted.find_first_not_of('-'), wanted.size()));
  wanted = wanted.substr(0, wanted.find('='));
  return fmt::format("did you mean '--{}'?", nearest_name(wanted, names));
}

std::string near_command(const CLI::App& app, std::string_view wanted) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_name().empty() && !command->get_group().empty())
      names.push_back(command->get_name());
  return fmt::format("did you mean '{}'?", nearest_name(wanted, names));
}

// Returns the message for a wrong call. An unknown word comes before a missing option, because a
// call with `--tsk` also lacks --task.
std::string complaint(const CLI::App& command, const CLI::ParseError& error) {
  for (const std::string& word : command.remaining())
    if (word.starts_with('-') && word != "--")
      return fmt::format("unknown option '{}'; {}", word, near_option(command, word));
  const auto extra = command.remaining();
  if (!extra.empty() && command.get_require_subcommand_min() > 0)
    return fmt::format("there is no command '{} {}'; {}", path_of(command), extra.front(),
                       near_command(command, extra.front()));
  std::string line = error.what();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

std::vector<std::string> command_line(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "help" && (words.size() == 1 || !words[1].starts_with('-'))) {
    words.erase(words.begin());
    words.emplace_back("--help");
    return words;
  }
  for (const Renamed& renamed : renamed_commands()) {
    if (words.front() != renamed.old_name) continue;
    LOG("`tritonsmith {}` is now `tritonsmith {}`; the old name goes with the next version",
        renamed.old_name, fmt::join(renamed.words, " "));
    words.erase(words.begin());
    words.insert(words.begin(), renamed.words.begin(), renamed.words.end());
    return words;
  }
  return words;
}

std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  const CLI::App& command = chosen_of(app);
  const bool names_none = &command == &app && !words.empty() && !words.front().starts_with('-');
  if (names_none)
    return fmt::format("there is no command '{}'; {} `tritonsmith --help` lists all", words.front(),
                       near_command(app, words.front()));
  const std::string path = path_of(command), what = complaint(command, error);
  return fmt::format("{}{} `tritonsmith {}{}--help` says more", what,
                     what.ends_with('?') ? "" : ";", path, path.empty() ? "" : " ");
}

}  // namespace tritonsmith::cli
