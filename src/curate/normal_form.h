// Brings a Python file into a normal form: its syntax tree as text. Two files with the same normal
// form are copies of each other. The form leaves out comments, docstrings, white space, commas,
// imports, and the names that the file itself chooses. A pure function of any text.
#pragma once

#include <string>
#include <string_view>

namespace tritonsmith::curate {

// ignore: sizes and constants do not count either, so that a task with other shapes is the same task.
enum class Numbers { keep, ignore };

// model: a task's computation alone. Its inputs and the constants at top level do not count.
enum class Part { file, model };

std::string normal_form(std::string_view source, Numbers numbers, Part part = Part::file);

}  // namespace tritonsmith::curate
