// Lists models by name, for messages.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tritonsmith::serve::openai {

// Returns "'small', 'large'". Each model has a `name`.
std::string quoted_names(const auto& models) {
  std::string names;
  for (const auto& each : models)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", each.name);
  return names;
}

}  // namespace tritonsmith::serve::openai
