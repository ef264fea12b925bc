// What other programs say of themselves, for commands that report on the machine.
#pragma once

#include <string>

namespace tritonsmith::cli {

// The shell command's standard output, or nothing when it fails.
std::string output_of(const std::string& command);

// "3.11.2, torch 2.11.0, triton 3.6.0"; empty where the interpreter has no torch and triton.
std::string versions_of_python(const std::string& python);

}  // namespace tritonsmith::cli
