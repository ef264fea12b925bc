// Describes a search in words, the same on the terminal and in reports. Attempts are counted from
// 1. All functions are pure.
#pragma once

#include <string>

#include "search/history.h"

namespace tritonsmith::search {

// Returns what an attempt began from: "conversation 2, turn 3", "changes 3", "tunes 3" or "ideas in
// words". Empty: the model saw the task alone.
std::string origin_of(const Ask& ask);

// Returns "3 of 7 different kernels verified; the others: wrong_value 2, compile_error 2; 1 answer
// held no kernel". Kernels that the program made to tune another one count like the model's.
std::string summary_of(const History& history);

}  // namespace tritonsmith::search
