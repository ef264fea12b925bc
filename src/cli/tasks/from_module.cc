#include "cli/tasks/from_module.h"

#include <memory>

#include "base/file.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/setup/module_options.h"

namespace tritonsmith::cli {
namespace {

struct FromModuleOptions {
  std::string name, out;
  ModuleOptions module;
};

Status print_task(const FromModuleOptions& options) {
  if (options.module.inputs.size() > 1)
    return fail("a task's file has one call: give --inputs once");
  TRY_ASSIGN(const auto made, read_tasks(options.name, options.module));
  const Task& task = made.tasks.front();
  if (!options.out.empty()) return write_file_atomic(options.out, task.source);
  hand_over(task.source);
  return ok();
}

}  // namespace

void add_from_module_command(CLI::App& tasks, Run& run) {
  CLI::App* command = tasks.add_subcommand(
      "from-module", "Print a class or function of your code as a task's file");
  const auto options = std::make_shared<FromModuleOptions>();
  command
      ->add_option("NAME", options->name,
                   "The class or function, as FILE.py:NAME or package.module:NAME")
      ->required();
  add_module_options(*command, options->module);
  options->module.most_captured = 1;
  command->add_option("--out", options->out, "Write the task here instead of stdout");
  add_example(*command,
              "tasks from-module vit/block.py:Block --inputs \"randn(8, 196, 768)\" --init 768");
  command->callback([options, &run] { run = [options] { return finish(print_task(*options)); }; });
}

}  // namespace tritonsmith::cli
