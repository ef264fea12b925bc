// PtxMessages: what a search says to the model for an edit of PTX. The functions are pure.
#pragma once

#include "search/messages.h"

namespace tritonsmith::search {

// The prompt, the answer with the Triton kernel, and then the PTX with its figures, the last edit with
// its verdict if it was no better, what may change, and the form of the answer.
std::vector<text::Message> edit_messages(const Ask& ask, const History& history,
                                         const Prompting& prompting);

// The lines in which `after` differs from `before`: those between their common beginning and their
// common end. Empty if the texts are equal.
std::string changed_lines(std::string_view before, std::string_view after);

// The lines that a message names as "line 14", each with its number. The first line is 1.
std::string named_lines(std::string_view message, std::string_view text);

}  // namespace tritonsmith::search
