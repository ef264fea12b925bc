// Keeps the modules that a script called while it was captured (capture.h): the arguments of each
// constructor, and those of its calls. `--captured FILE` of judge, write and tasks from-module
// reads the file. The texts come from the user's own script.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tritonsmith::modules {

// Calls with the same shapes, dtypes, strides and plain values.
struct CapturedCall {
  std::string text;     // the arguments as --inputs takes them, or empty
  std::string problem;  // why there is no text
  std::string note;
  std::int64_t calls = 0;
  // Under autocast: its type as --dtype has it, and the text with the tensors in that type.
  std::string autocast, autocast_text;
};

// Either a function, or the modules of one class that were constructed with the same arguments and
// called with the same parameters. A function has no constructor and no instances.
struct CapturedModule {
  std::string name;                 // of the class or function
  std::string target, why_no_task;  // the class as --task takes it, or why it cannot be named
  std::string init, init_problem;   // the arguments as --init takes them, or why there is no text
  std::string dtype;                // of the weights, unless it is float32
  std::vector<std::string> given;   // the parameters that a call gives
  bool is_own = false;              // false: an installed package has the class
  std::int64_t instances = 0, calls = 0;
  std::int64_t more = 0;  // calls with further shapes, which are only counted
  std::vector<CapturedCall> inputs;
};

Json to_json(const CapturedModule& module);
Result<CapturedModule> captured_module_from_json(const Json& json);

// Joins the records of several processes. The user's own classes come first, the most called ones
// before others.
std::vector<CapturedModule> joined(const std::vector<CapturedModule>& modules);

// Keeps the modules that one of the names means: Block, FILE.py:Block or net.block:Block. No
// names keep all. Fails with the nearest name if a name means none.
Result<std::vector<CapturedModule>> chosen_modules(std::vector<CapturedModule> modules,
                                                   const std::vector<std::string>& names);

// Refuses to replace a file that is no capture.
Status check_capture_file(const std::filesystem::path& file);
Status write_capture_file(const std::filesystem::path& file,
                          const std::vector<CapturedModule>& modules);

struct CapturedArguments {
  std::vector<std::string> inputs;  // the most frequent calls first
  std::string init, dtype;
  std::size_t left_out = 0;  // further kinds of calls
};

// Reads the arguments of a class. `location` is FILE, or FILE:NUMBER if the file has the class with
// several constructions.
struct CapturedChoice {
  std::size_t most_inputs = 4;  // kinds of calls
  bool has_init = false;        // the user gives the constructor's arguments
  std::string dtype;            // that the user wants the weights in
};
Result<CapturedArguments> captured_arguments(std::string_view location, std::string_view target,
                                             const CapturedChoice& choice);

}  // namespace tritonsmith::modules
