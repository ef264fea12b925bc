// The program's entry: chooses the subcommand, runs it, and turns what LibTorch or the standard
// library throws into one line and a non-zero exit.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/call/command.h"
#include "cli/call/command_line.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/version.h"

namespace tritonsmith::cli {
namespace {

// LibTorch puts a stack below the message of what it throws.
std::string_view without_stack(std::string_view message) {
  return message.substr(0, message.find("\nException raised from "));
}

ExitCode run_program(const std::vector<std::string>& words) {
  CLI::App app("Trains and judges language models that write Triton GPU kernels.", "tritonsmith");
  app.set_version_flag(
      "--version", version_text,
      "Print the versions of the program and of all that it judges with, and exit");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  Run run;
  add_all_commands(app, run);
  complete_help(app);
  const std::vector<std::string> line = command_line(words);
  if (const auto unknown = unknown_command(app, line)) {
    complain(*unknown);
    return ExitCode::wrong_call;
  }
  try {
    app.parse(std::vector<std::string>(line.rbegin(), line.rend()));  // CLI11 wants reverse order
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app.exit(error, text, text);
      show_text(text.str());
      return ExitCode::done;
    }
    complain(what_is_wrong(app, error));
    return ExitCode::wrong_call;
  }
  return run();
}

}  // namespace
}  // namespace tritonsmith::cli

int main(int argc, char** argv) {
  using tritonsmith::cli::ExitCode;
  std::signal(SIGPIPE, SIG_IGN);  // if a reader is gone, write(2) fails and the program goes on
  ExitCode code = ExitCode::fault;
  try {
    code = tritonsmith::cli::run_program({argv + 1, argv + argc});
    if (!tritonsmith::cli::output_is_whole()) {
      tritonsmith::cli::complain("standard output could not be written");
      code = ExitCode::fault;
    }
  } catch (const std::bad_alloc&) {
    tritonsmith::cli::complain("there is not enough memory");
  } catch (const std::exception& error) {
    tritonsmith::cli::complain(tritonsmith::cli::without_stack(error.what()));
  }
  // A return would make LibTorch take back its thousands of operators one by one, which takes a third
  // of a short command's time. By here the commands have closed and written what is theirs.
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}
