// Tuning: the last step of a search. It changes the constants with which the best kernel is launched:
// block sizes, warps and pipeline stages. A variant is a kernel like any other, and the judge judges
// it as one, so a change that makes it wrong is refused. No model is asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/history.h"
#include "search/search_config.h"

namespace tritonsmith::search {

// Variants of the source in which one constant of one launch differs: an upper-case keyword whose
// value is a power of two is halved or doubled, num_warps and num_stages take their neighbours'
// values. A launch without num_warps gets it. Empty for a source that launches nothing.
std::vector<std::string> variants_of(const std::string& kernel);

// The first variant of the best timed kernel that was not judged yet; nothing when all were, when
// nothing was timed, or when config.tune variants were tried.
std::optional<Ask> next_variant(const SearchConfig& config, const History& history);

}  // namespace tritonsmith::search
