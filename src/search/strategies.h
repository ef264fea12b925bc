// Strategies: pure functions from a search's config, its random seed and its history to the next
// ask. They keep no state, so equal histories give equal asks.
//
// Beam, evolution and branching work in rounds. A round begins when the last one has ended, and its
// asks follow from the rounds before it, never from the order in which attempts end.
#pragma once

#include "search/history.h"
#include "search/search_config.h"

namespace tritonsmith::search {

// Nothing: the strategy waits for attempts in flight, or, if there are none, it has ended.
std::optional<Ask> next_ask(const SearchConfig& config, const History& history, std::uint64_t seed);

// The archive of evolution: the `width` best kernels, then the best one of each other kind.
std::vector<int> archive_of(const History& history, int round, int width);
// The kind of a kernel: how it works, as far as its verdict tells. "2 kernels, 3 launches, no torch".
std::string kind_of(const Verdict& verdict);
// The ideas that an answer states, at most `most` of them. Each is a line of a list.
std::vector<std::string> ideas_in(std::string_view text, int most);

}  // namespace tritonsmith::search
