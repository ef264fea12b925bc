// Defines the form of a subcommand. One file defines `void add_<name>_command(CLI::App& app, Run&
// run)`. The function adds the subcommand's options to `app`, and sets `run` to its action if the
// user chooses it. A static `Command` in the same file enters it in the list. A subcommand returns
// the exit code, and `finish` prints the error of a Result.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"
#include "cli/call/exit_code.h"

namespace tritonsmith::cli {

using Run = std::function<ExitCode()>;

// The help of the program lists the commands of a group together, in this order. It does not list
// hidden commands.
enum class CommandGroup { start, judge, train, model, tasks, shell, hidden };

class Command {
 public:
  using Add = void (*)(CLI::App& app, Run& run);
  Command(CommandGroup group, std::string_view name, Add add);
};

// Adds every command to `app`, by group and name.
void add_all_commands(CLI::App& app, Run& run);

// An option that takes one of an enum's names. Its default is the value that the variable has.
template <NamedEnum E>
CLI::Option* add_choice(CLI::App& command, const std::string& name, E& value,
                        const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [known, its_name] : enum_names<E>) names.emplace_back(its_name);
  return command
      .add_option_function<std::string>(
          name, [&value](const std::string& chosen) { value = *enum_from_name<E>(chosen); }, help)
      ->check(CLI::IsMember(names))
      ->default_str(std::string(name_of(value)));
}

// Returns the exit code. After a failure it prints "tritonsmith: MESSAGE" on stderr.
ExitCode finish(const tl::unexpected<Error>& failed);
ExitCode finish(const Status& status);
ExitCode finish(const Result<ExitCode>& result);

}  // namespace tritonsmith::cli
