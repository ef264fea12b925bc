#include "cli/call/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>

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

std::map<const CLI::App*, std::vector<std::string>>& settings_of_commands() {
  static std::map<const CLI::App*, std::vector<std::string>> all;
  return all;
}

// Returns "; did you mean '--task'?", or "; 'seconds' is a setting, so give it as '--set seconds=VALUE'", or
// nothing if no option is near.
std::string near_option(const CLI::App& command, std::string_view wanted) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  wanted.remove_prefix(std::min(wanted.find_first_not_of('-'), wanted.size()));
  wanted = wanted.substr(0, wanted.find('='));
  const auto settings = settings_of_commands().find(&command);
  if (settings != settings_of_commands().end() &&
      std::ranges::find(settings->second, wanted) != settings->second.end())
    return fmt::format("; '{0}' is a setting, so give it as '--set {0}=VALUE'", wanted);
  const auto near = near_name(wanted, names);
  return near ? fmt::format("; did you mean '--{}'?", *near) : "";
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_name().empty()) commands.push_back(command);
  return commands;
}

std::vector<std::string> listed_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return names;
}

// CLI11's messages in our words. $1 and $2 are parts of its message.
struct Rewording {
  const char *theirs, *ours;
};
constexpr auto kRewordings = std::to_array<Rewording>({
    {"(\\S+): \\d+ required .* missing", "$1 needs a value"},
    {"(\\S+): At Most (\\d+) required but received (\\d+)", "$1 takes $2 value and got $3"},
    {"(\\S+): Value (.*) not in range (\\S+) to (\\S+)",
     "$1 must lie between $3 and $4, and is $2"},
    {"(\\S+): (.*) not in \\{(.*)\\}", "$1 has no value '$2'; it takes one of: $3"},
    {"The following arguments? (?:was|were) not expected: (.*)", "there is no place for '$1'"},
    {"Could not convert: (\\S+) = (.*)", "$1: '$2' is no value of its type"},
    {"(\\S+) excludes (\\S+)", "$1 and $2 exclude each other"},
    {"Exactly 1 option from \\[(\\S+),(\\S+)\\] is required.*", "give either $1 or $2"},
});

std::string in_our_words(const std::string& message) {
  constexpr std::string_view listed = "it takes one of: ";
  for (const Rewording& each : kRewordings) {
    const std::regex theirs(each.theirs);
    if (!std::regex_match(message, theirs)) continue;
    std::string ours = std::regex_replace(message, theirs, each.ours);
    if (const std::size_t at = ours.find(listed); at != std::string::npos)  // without spaces
      ours = ours.substr(0, at) + std::regex_replace(ours.substr(at), std::regex(","), ", ");
    return ours;
  }
  return message;
}

// Returns the message for a wrong call. An unknown word comes before a missing option, because a
// call with `--tsk` also lacks --task.
std::string complaint(const CLI::App& command, const CLI::ParseError& error) {
  for (const std::string& word : command.remaining())
    if (word.starts_with('-') && word != "--")
      return fmt::format("unknown option '{}'{}", word, near_option(command, word));
  if (command.get_require_subcommand_min() > 0)
    return fmt::format("name a command: {}", fmt::join(listed_names(command), ", "));
  std::string line = error.what();
  std::ranges::replace(line, '\n', ' ');
  return in_our_words(line);
}

}  // namespace

void note_settings(const CLI::App& command, std::vector<std::string> names) {
  settings_of_commands()[&command] = std::move(names);
}

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

std::optional<std::string> unknown_command(const CLI::App& app,
                                           const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const auto commands = commands_of(*command);
    if (word.starts_with('-') || commands.empty()) return std::nullopt;
    const auto named = std::ranges::find(commands, word, &CLI::App::get_name);
    if (named == commands.end()) {
      const std::string path = path_of(*command), space = path.empty() ? "" : " ";
      const auto near = near_name(word, listed_names(*command));
      return fmt::format("there is no command '{0}{1}{2}'{3} `tritonsmith {0}{1}--help` lists all",
                         path, space, word,
                         near ? fmt::format("; did you mean '{}'?", *near) : ".");
    }
    command = *named;
  }
  return std::nullopt;
}

std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen_of(app);
  const std::string path = path_of(command), what = complaint(command, error);
  return fmt::format("{}{} `tritonsmith {}{}--help` says more", what,
                     what.ends_with('?') ? "" : ";", path, path.empty() ? "" : " ");
}

}  // namespace tritonsmith::cli
