#include "cli/call/command.h"

#include <algorithm>
#include <tuple>

#include "cli/call/output.h"

namespace tritonsmith::cli {
namespace {

struct Listed {
  CommandGroup group = CommandGroup::hidden;
  std::string_view name;
  Command::Add add = nullptr;
};

// The list is a variable of a function, because
// commands enter themselves before main, in any order.
std::vector<Listed>& all_commands() {
  static std::vector<Listed> commands;
  return commands;
}

std::string heading(CommandGroup group) {
  switch (group) {
    case CommandGroup::start:
      return "To begin with";
    case CommandGroup::judge:
      return "Judge kernels";
    case CommandGroup::train:
      return "Train";
    case CommandGroup::model:
      return "Use and measure a model";
    case CommandGroup::tasks:
      return "Make tasks and models";
    case CommandGroup::shell:
      return "About this program";
    case CommandGroup::hidden:
      return "";
  }
  return "";
}

}  // namespace

Command::Command(CommandGroup group, std::string_view name, Add add) {
  all_commands().push_back({group, name, add});
}

void add_all_commands(CLI::App& app, Run& run) {
  std::vector<Listed>& commands = all_commands();
  std::ranges::sort(commands, {},
                    [](const Listed& each) { return std::tuple(each.group, each.name); });
  for (const Listed& each : commands) {
    each.add(app, run);
    app.get_subcommand(std::string(each.name))->group(heading(each.group));
  }
}

ExitCode finish(const tl::unexpected<Error>& failed) {
  complain(failed.value().message);
  return exit_code_of(failed.value());
}

ExitCode finish(const Status& status) {
  return status ? ExitCode::done : finish(tl::unexpected(status.error()));
}

ExitCode finish(const Result<ExitCode>& result) {
  return result ? *result : finish(tl::unexpected(result.error()));
}

}  // namespace tritonsmith::cli
