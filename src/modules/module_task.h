// Makes tasks of a class or a function in the user's own code. A helper process of Python reads
// the code as syntax trees and never runs it (python/tritonsmith_modules/task.py). The Python is
// the one that guests run with, whose packages a task may import. Any thread may call this.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/task.h"
#include "gym/sandbox/guest_files.h"

namespace tritonsmith::modules {

// The helper's files. The build makes them (CMakeLists.txt).
std::span<const gym::sandbox::EmbeddedFile> embedded_module_files();

struct ModuleRequest {
  std::string target;  // "FILE.py:NAME" or "package.module:NAME"
  // Call arguments as Python text, or a file of example tensors: for each task one.
  std::vector<std::string> inputs;
  std::string init;   // the constructor's arguments as Python text
  std::string dtype;  // converts the module's weights; empty: they stay as constructed
  // If not empty: the text of the file, which lies in no folder. `target` is then a name alone. The
  // text finds no other files but installed packages, and `inputs` are no files, because whoever sent
  // the text need not be allowed to read files of this machine. `init` of a class "Model" is what the
  // text's get_init_inputs returns, unless it is given.
  std::string source = {};
};

// The tasks of a module, and what a replacement of it is made from (patch.h).
struct ModuleTasks {
  std::vector<Task> tasks;
  std::string name, file;  // the class or function, and the file that defines it
  bool is_class = false;
  // As Python text: the constructor's positional arguments, and its keywords as items of a dict.
  std::string arguments, keywords;
  std::vector<std::string> parameters;  // names of forward's parameters
  std::vector<std::string> calls;       // the arguments of each task's call, as Python text
};

// Tells whether a name of a task has the form of ModuleRequest::target. No file of this very name
// exists in such a case.
bool names_a_module(std::string_view name);
// Tells the same of a class within another one, as in FILE:Outer.Inner. No task is made of it.
bool names_a_nested_class(std::string_view name);

// Tells whether Python takes the text as a name.
bool is_python_name(std::string_view text);

// Makes a task for each of the inputs, at least one. A task's source is one file. If there are
// several, their ids are "NAME with INPUTS". An error is one line that says what the helper cannot
// follow, and what to do.
Result<ModuleTasks> tasks_of_module(const ModuleRequest& request);

// Describes a task whose source is a file in KernelBench's format, so that a patch can be made of it.
// An error is one line: the constructor's arguments must be plain values.
Result<ModuleTasks> module_of_file(Task task);

}  // namespace tritonsmith::modules
