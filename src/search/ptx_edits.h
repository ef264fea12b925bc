// PtxEdits: the last step of a search, below Triton. The program first has the best timed kernel judged
// once more, to see its PTX. The model then edits that text, and the judge judges each edit as any
// kernel on a GPU. Each edit begins from the fastest text so far, and sees what became of the last
// one. The history holds the lineage: an edit's parent is the attempt whose text it changed. The
// functions are pure.
#pragma once

#include <optional>
#include <string>

#include "data/task.h"
#include "search/history.h"
#include "search/search_config.h"

namespace tritonsmith::search {

// The next step; nothing where config.ptx edits were made, where the best kernel was not timed, and
// while an attempt is in flight.
std::optional<Ask> next_edit(const SearchConfig& config, const History& history);

// The attempt whose PTX is the fastest that was accepted: an edit, or the one that shows the
// compiler's own. Nothing before that one was judged.
std::optional<int> fastest_ptx(const History& history);

// How much faster the fastest edit is than the compiler's own PTX. Nothing if no edit is faster.
std::optional<double> gain_of_edits(const History& history);

// The text of a kernel's PTX with which an attempt was judged.
std::string ptx_of(const History& history, int attempt, const std::string& kernel);

// The PTX in an answer: the last code block that holds a kernel, or the bare text of one. Empty if
// there is none.
std::string ptx_in(std::string_view answer);

// The verdict on an answer without PTX.
Verdict missing_ptx_verdict(const Task& task, Policy policy);

// Says at the end of a search what became of its edits, or why there are none: "; 4 edits of PTX ...".
// Empty if it was not to edit.
std::string words_for_edits(const SearchConfig& config, const History& history);

}  // namespace tritonsmith::search
