#include "cli/setup/module_options.h"

#include <filesystem>

#include "curriculum/suite.h"

namespace tritonsmith::cli {

void add_module_options(CLI::App& command, ModuleOptions& options) {
  command
      .add_option(
          "--inputs", options.inputs,
          "Of a class or function: its call's arguments, as in \"randn(8, 1024, "
          "dtype=bf16), mask=None\", or a .pt or .safetensors file of examples. Repeatable: "
          "a kernel must then be right for all")
      ->allow_extra_args(false);
  command.add_option("--init", options.init,
                     "Of a class: its constructor's arguments, as in \"1024, bias=False\"");
  command.add_option("--dtype", options.dtype,
                     "Of a class: convert its weights to this type, as Module.to does");
}

Result<modules::ModuleTasks> read_tasks(const std::string& name, const ModuleOptions& options) {
  if (modules::names_a_module(name))
    return modules::tasks_of_module(
        {.target = name, .inputs = options.inputs, .init = options.init, .dtype = options.dtype});
  if (!options.inputs.empty() || !options.init.empty() || !options.dtype.empty())
    return fail("{0}: --inputs, --init and --dtype need the name of a class or function: {0}:NAME",
                name);
  auto task = curriculum::import_file(name, std::filesystem::path(name).stem().string(), "file");
  std::error_code ignored;
  if (!task && std::filesystem::is_regular_file(name, ignored))
    return fail("{}; a class or function of the file is {}:NAME, with --inputs",
                task.error().message, name);
  if (!task) return tl::unexpected(task.error());
  return modules::ModuleTasks{.tasks = {*std::move(task)}};
}

}  // namespace tritonsmith::cli
