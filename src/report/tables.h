// Writes the results of evaluations as rows of text for HTML, Markdown and the terminal. Runs of
// different policies never share a table, because their "accepted" has different meanings.
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

// Returns one row for each evaluation: rates and pass@k.
std::vector<std::vector<std::string>> evaluation_rows(const std::vector<Evaluation>& evaluations);

// Returns tables of rates, speed, levels, turns and refusals, and compares each later evaluation
// with `baseline` by name. If the name is empty or its policy differs, the baseline is the first
// evaluation with an accepted sample: an untrained model's zeros show nothing. Tables without data
// are left out, and so are columns of fast_p without timing.
std::vector<Table> evaluation_tables(const std::vector<Evaluation>& evaluations,
                                     std::string_view baseline = "");

// Returns KernelBench's levels in the form of published tables. The table has only its head if
// nothing was timed.
Table kernelbench_table(const std::vector<Evaluation>& evaluations);

// Many turns: the last turn beside the best turn, with their cost. The table has only its head if
// no evaluation has many turns.
Table turn_table(const std::vector<Evaluation>& evaluations);

// Test-time scaling: the results and the cost of n conversations with a number of turns.
Table scaling_table(const std::vector<Evaluation>& evaluations);

// For the terminal, columns aligned: the first to the left, the others as said.
enum class Alignment { left, right };
std::string to_text(const std::vector<std::vector<std::string>>& rows,
                    Alignment alignment = Alignment::right);

// Lists every task with each evaluation's accepted samples.
Table task_table(const std::vector<Evaluation>& evaluations);

}  // namespace tritonsmith::report
