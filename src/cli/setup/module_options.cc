#include "cli/setup/module_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/log.h"
#include "curriculum/suite.h"
#include "modules/captured.h"

namespace tritonsmith::cli {

void add_module_options(CLI::App& command, ModuleOptions& options) {
  command
      .add_option(
          "--inputs", options.inputs,
          "The arguments of a call of the class or function, as in \"randn(8, 1024, dtype=bf16), "
          "mask=None\", or a .pt or .safetensors file of examples. Repeatable: a kernel must then "
          "be right for all")
      ->allow_extra_args(false);
  command.add_option("--init", options.init,
                     "The arguments of the class's constructor, as in \"1024, bias=False\"");
  command.add_option("--dtype", options.dtype,
                     "Convert the weights of a class to this type, as Module.to does");
  command.add_option("--captured", options.captured,
                     "Take the missing arguments of a class from this file of `tritonsmith "
                     "capture`, or from one of its modules: FILE:NUMBER");
}

namespace {

// Returns the options with what --captured adds.
Result<ModuleOptions> with_captured(const std::string& name, ModuleOptions options) {
  if (options.captured.empty()) return options;
  TRY_ASSIGN(auto captured, modules::captured_arguments(options.captured, name,
                                                        {.most_inputs = options.most_captured,
                                                         .has_init = !options.init.empty(),
                                                         .dtype = options.dtype}));
  if (options.init.empty()) options.init = captured.init;
  if (options.dtype.empty()) options.dtype = captured.dtype;
  if (!options.inputs.empty()) return options;
  options.inputs = captured.inputs;
  if (captured.left_out > 0)
    LOG("{} is called in {} ways; this takes the {}most frequent", name,
        captured.inputs.size() + captured.left_out,
        captured.inputs.size() == 1 ? "" : fmt::format("{} ", captured.inputs.size()));
  return options;
}

}  // namespace

Result<modules::ModuleTasks> read_tasks(const std::string& name, const ModuleOptions& options) {
  if (modules::names_a_module(name)) {
    TRY_ASSIGN(const ModuleOptions all, with_captured(name, options));
    return modules::tasks_of_module(
        {.target = name, .inputs = all.inputs, .init = all.init, .dtype = all.dtype});
  }
  if (modules::names_a_nested_class(name))
    return fail(
        "{}: only a class or function at the top level of its file can be taken; derive a class "
        "there from this one",
        name);
  if (!options.inputs.empty() || !options.init.empty() || !options.dtype.empty() ||
      !options.captured.empty())
    return fail(
        "{0}: --inputs, --init, --dtype and --captured need the name of a class or function: "
        "{0}:NAME",
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
