// Lists the exit codes of every command. Every --help lists them from kExitCodes.
#pragma once

#include <string_view>

#include "base/error.h"

namespace tritonsmith::cli {

// A command that ends in several ways takes the highest of them.
enum class ExitCode { done = 0, not_accepted = 1, wrong_call = 2, fault = 3 };

inline constexpr std::string_view kExitCodes =
    "Exit codes:\n"
    "  0  done; of `judge`: every kernel is accepted (with --json: every kernel has a verdict)\n"
    "  1  judged and not accepted: of `judge`, `rejudge` and `write`\n"
    "  2  the call, its config, a task or a file is wrong\n"
    "  3  no verdict or no result, though the call was right\n";

inline ExitCode exit_code_of(const Error& error) {
  return error.kind == ErrorKind::fault ? ExitCode::fault : ExitCode::wrong_call;
}

}  // namespace tritonsmith::cli
