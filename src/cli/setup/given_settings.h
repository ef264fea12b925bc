// Collects the settings of a call: those of a TOML file, then those of a repeatable option such as
// --set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"

namespace tritonsmith::cli {

// Sets fields of `config`. An empty file name means no file. Messages name the file or the option.
template <typename Config>
Status apply_given(Config& config, const std::string& file,
                   const std::vector<std::string>& overrides, std::string_view option = "--set") {
  if (!file.empty()) {
    TRY_ASSIGN(const Settings in_file, settings_from_toml_file(file));
    TRY(apply_settings(config, in_file, file));
  }
  TRY_ASSIGN(const Settings on_top, settings_from_overrides(overrides));
  return apply_settings(config, on_top, option);
}

}  // namespace tritonsmith::cli
