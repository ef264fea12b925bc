#include "cli/setup/search_options.h"

#include "cli/call/command_line.h"

namespace tritonsmith::cli {

void add_search_settings(CLI::App& command, std::vector<std::string>& settings) {
  command.add_option("--set", settings,
                     "One setting of the search, such as width=8 or seconds=600 (repeatable; "
                     "docs/search.md has all)");
  note_settings<search::SearchConfig>(command);
}

Result<search::SearchConfig> search_config(search::SearchConfig base,
                                           const std::vector<std::string>& settings) {
  TRY_ASSIGN(const Settings parsed, settings_from_overrides(settings));
  TRY(apply_settings(base, parsed, "--set"));
  return base;
}

}  // namespace tritonsmith::cli
