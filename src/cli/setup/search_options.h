// Adds the options of `write` and `eval` that say how a search goes about it.
#pragma once

#include <string>
#include <vector>

#include "cli/call/command.h"
#include "search/search_config.h"

namespace tritonsmith::cli {

// --set KEY=VALUE. The help of the command lists the settings.
void add_search_settings(CLI::App& command, std::vector<std::string>& settings);

// `base` with the settings applied. Fails in one line that names the setting.
Result<search::SearchConfig> search_config(search::SearchConfig base,
                                           const std::vector<std::string>& settings);

}  // namespace tritonsmith::cli
