// Tables: what evaluations measured, as rows of text that HTML, Markdown and the terminal share.
// Runs of different policies never share a table: their "accepted" means different things.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/evaluation.h"

namespace tritonsmith::report {

struct Table {
  std::string title, note;                     // plain text; the note may be empty
  std::vector<std::vector<std::string>> rows;  // the first is the head
};

std::string percent(double share);

// One row an evaluation: rates and pass@k.
std::vector<std::vector<std::string>> evaluation_rows(const std::vector<Evaluation>& evaluations);

// Rates, speed, levels, turns, refusals, and the comparison of each later one with `baseline` (its
// name; empty or another policy's: the first that ever had a sample accepted, since nothing is to
// be learnt from an untrained model's zeros). What has nothing to show is left out: tables, and the
// columns of fast_p where nothing was timed.
std::vector<Table> evaluation_tables(const std::vector<Evaluation>& evaluations,
                                     std::string_view baseline = "");

// KernelBench's levels as published tables give them, to stand beside those; no rows but the head
// where nothing was timed on them.
Table kernelbench_table(const std::vector<Evaluation>& evaluations);

// Many turns: last turn beside best of history, with what they cost. No rows but the head where no
// evaluation has many turns.
Table turn_table(const std::vector<Evaluation>& evaluations);

// Test-time scaling: what n conversations of so many turns come to, and cost.
Table scaling_table(const std::vector<Evaluation>& evaluations);

// For the terminal, columns aligned: the first to the left, the others as said.
enum class Alignment { left, right };
std::string to_text(const std::vector<std::vector<std::string>>& rows,
                    Alignment alignment = Alignment::right);

// Every task with each evaluation's accepted samples.
Table task_table(const std::vector<Evaluation>& evaluations);

}  // namespace tritonsmith::report
