// Runs `tritonsmith eval --search`: it compares strategies of searching on a suite, at equal
// budget.
#pragma once

#include <string>
#include <vector>

#include "eval/search_suite.h"

namespace tritonsmith::cli {

struct SearchEval {
  std::vector<std::string> strategies;
  std::vector<std::string> settings;  // of --set, for every strategy
};

// Runs one strategy after the other, each in its own folder of options.directory, and prints one
// table. `options.config` counts for what the strategies have in common.
Status evaluate_strategies(std::span<const Task> tasks, eval::SearchSuiteOptions options,
                           const SearchEval& choice, const eval::PromptedWriter& prompted,
                           gym::api::Judge& judge);

}  // namespace tritonsmith::cli
