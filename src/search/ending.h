// Ending: when a search asks no more, by its budget and by what it has found. The functions are pure.
#pragma once

#include <optional>
#include <string>

#include "search/history.h"
#include "search/search_config.h"

namespace tritonsmith::search {

// Why the strategy asks no more: "64 attempts were made". Nothing while it may go on. The limit in
// seconds is not looked at.
std::optional<std::string> reason_to_end(const SearchConfig& config, const History& history);

// Why no kernel can be judged, if a verdict says that the task itself fails, and none was accepted.
std::optional<std::string> failed_task(const History& history);

// Says whether the limit of judgements allows one more. Each attempt in flight may need one.
bool has_room_for_one_more(const SearchConfig& config, const History& history);

// Says whether the limits allow another edit of PTX. Edits have a number of their own, so the limit
// of attempts does not end them.
bool may_edit(const SearchConfig& config, const History& history);

// Returns the text that follows the reason, such as "; 4 edits ...". It says how edits ended, and that the
// speed of light is unknown although it should end the search. It is empty if neither holds.
std::string notes_at_the_end(const SearchConfig& config, const History& history);

}  // namespace tritonsmith::search
