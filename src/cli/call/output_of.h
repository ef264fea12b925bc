// Runs other programs and returns their output, for commands that report on the machine.
#pragma once

#include <string>

namespace tritonsmith::cli {

// Returns the standard output of a shell command, or nothing if it fails.
std::string output_of(const std::string& command);

// Returns "3.11.2, torch 2.11.0, triton 3.6.0". Returns an empty string if the interpreter lacks
// torch or triton.
std::string versions_of_python(const std::string& python);

}  // namespace tritonsmith::cli
