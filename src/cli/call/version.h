// The text of --version: everything besides the machine that a verdict depends on.
#pragma once

#include <string>

namespace tritonsmith::cli {

// Version and commit of the program, the judging version, and those of Python, torch and triton.
std::string version_text();

// "tritonsmith 0.1.0, commit 53394f3": what records call the program that made them.
std::string program_name();

// "0.1.0"; the commit it was built from, "unknown" outside a checkout.
std::string program_version();
std::string program_commit();

}  // namespace tritonsmith::cli
