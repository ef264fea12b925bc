// The program's entry: chooses the subcommand, runs it, and turns what LibTorch or the standard
// library throws into one line and a non-zero exit.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "cli/commands.h"
#include "cli/output.h"

namespace tritonsmith::cli {

int finish(const Status& status) {
  if (status) return 0;
  complain(status.error().message);
  return 1;
}

namespace {

// One line, with where to look further.
std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error,
                          const std::string& first_word) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty() && !first_word.empty() && !first_word.starts_with('-'))
    return fmt::format("there is no command '{}'; `tritonsmith --help` lists them", first_word);
  std::string line = error.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return fmt::format("{}; `tritonsmith {}--help` says more", line,
                     chosen.empty() ? "" : chosen.front()->get_name() + " ");
}

int run_program(int argc, char** argv) {
  CLI::App app("Trains, judges and serves language models that write Triton GPU kernels.",
               "tritonsmith");
  app.set_version_flag("--version", TRITONSMITH_VERSION);
  app.require_subcommand(1);
  Run run;
  add_doctor_command(app, run);
  add_tasks_command(app, run);
  add_model_command(app, run);
  add_sft_command(app, run);
  add_rl_command(app, run);
  add_judge_command(app, run);
  add_eval_command(app, run);
  add_rejudge_command(app, run);
  add_write_command(app, run);
  add_quickstart_command(app, run);
  add_rloop_command(app, run);
  add_report_command(app, run);
  add_score_command(app, run);
  add_gym_command(app, run);
  add_gym_referee_command(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return finish(fail("{}", what_is_wrong(app, error, argc > 1 ? argv[1] : "")));
  }
  return run();
}

}  // namespace
}  // namespace tritonsmith::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write(2), not our death
  try {
    return tritonsmith::cli::run_program(argc, argv);
  } catch (const std::exception& error) {
    tritonsmith::cli::complain(error.what());
    return 1;
  }
}
