// Computes the similarity of two texts. It equals Python's difflib.SequenceMatcher(None, a,
// b).ratio() to the last bit, its "autojunk" heuristic included. kernel-coder and SWE-RL define
// their reward by it. The function is pure.
//
// The ratio is 2 M / T (Ratcliff and Obershelp). T is the number of characters of both texts. M is
// the number of characters in matching blocks: the longest common substring, then recursively those
// to its left and right. If b has 200 characters or more, a character that makes up over 1 % of it
// begins no match. Such a character only extends a match. The ratio is not symmetric.
#pragma once

#include <string_view>

namespace tritonsmith::reward {

// Characters are UTF-8 code points. A byte that belongs to none counts as one character.
double similarity(std::string_view a, std::string_view b);

}  // namespace tritonsmith::reward
