// Strategies: pure functions from a search's config, its random seed and its history to the next
// ask. They keep no state, so equal histories give equal asks.
//
// Beam, evolution and branching work in rounds. A round begins when the round before it has ended.
// Its asks depend on the earlier rounds, and never on the order in which attempts end.
#pragma once

#include "search/history.h"
#include "search/search_config.h"

namespace tritonsmith::search {

// Returns the next ask. Returns nothing if the strategy waits for attempts in flight. If none is in
// flight, it has ended.
std::optional<Ask> next_ask(const SearchConfig& config, const History& history, std::uint64_t seed);

// Returns the archive of evolution: the `width` best kernels, then the best one of each other kind.
std::vector<int> archive_of(const History& history, int round, int width);
// Returns how the kernel works, as far as its verdict tells: "2 kernels, 3 launches, no torch".
std::string kind_of(const Verdict& verdict);
// Returns the ideas in an answer, at most `most`. Each line of a list is an idea.
std::vector<std::string> ideas_in(std::string_view text, int most);

}  // namespace tritonsmith::search
