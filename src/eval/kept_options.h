// Keeps options.json, the options that decide an evaluation's records. An evaluation continues in a
// directory only under the same options.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "base/config.h"
#include "base/json.h"
#include "data/verdict.h"

namespace tritonsmith::eval {

// Returns a model's folder without links and relative parts.
std::string settled_model(const std::string& model);

// Returns the options that decide what a writer is asked and how its kernels are judged, except the
// model. All structs of options that are kept have these members.
template <typename Options>
Json shared_options(const Options& options) {
  Json shared = {{"policy", name_of(options.policy)},
                 {"backend", name_of(options.backend)},
                 {"trials", options.trials},
                 {"seed", options.seed}};
  for (const auto& [name, value] : settings_of(options.sampling))
    shared["sampling." + name] = value;
  return shared;
}

// Writes `options`, an object, into the directory. If an earlier call wrote them, this compares
// instead, and fails with a line that names the option that differs.
Status keep_options(const std::filesystem::path& directory, const Json& options);

// Compares `options` with those that an earlier call wrote, and says whether one of the `changeable`
// options differs. Fails as keep_options does if another one differs. Without an earlier call
// nothing differs.
Result<bool> differs_from_kept(const std::filesystem::path& directory, const Json& options,
                               const std::set<std::string>& changeable);
// Writes `options` in place of those of an earlier call.
Status replace_options(const std::filesystem::path& directory, const Json& options);

}  // namespace tritonsmith::eval
