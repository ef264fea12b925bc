// All subcommands in the order of the help. A new one needs its own file, a line here, and a line
// in main.cc.
#pragma once

#include "cli/command.h"

namespace tritonsmith::cli {

void add_doctor_command(CLI::App& app, Run& run);
void add_tasks_command(CLI::App& app, Run& run);
void add_model_command(CLI::App& app, Run& run);
void add_sft_command(CLI::App& app, Run& run);
void add_rl_command(CLI::App& app, Run& run);
void add_judge_command(CLI::App& app, Run& run);
void add_eval_command(CLI::App& app, Run& run);
void add_rejudge_command(CLI::App& app, Run& run);
void add_write_command(CLI::App& app, Run& run);
void add_quickstart_command(CLI::App& app, Run& run);
void add_rloop_command(CLI::App& app, Run& run);
void add_report_command(CLI::App& app, Run& run);
void add_score_command(CLI::App& app, Run& run);
void add_gym_command(CLI::App& app, Run& run);
void add_gym_referee_command(CLI::App& app, Run& run);

}  // namespace tritonsmith::cli
