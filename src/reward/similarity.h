// Similarity of two texts exactly as Python's difflib.SequenceMatcher(None, a, b).ratio() has it,
// to the last bit, "autojunk" heuristic included; kernel-coder and SWE-RL define their reward by
// it. A pure function.
//
// The ratio is 2 M / T: T is the number of characters of both, M the characters in matching blocks,
// found by taking the longest common substring and doing the same to the left and right of it
// (Ratcliff and Obershelp). Where b has 200 characters or more, those that make up over 1 % of it
// begin no match, they only extend one. It is not symmetric.
#pragma once

#include <string_view>

namespace tritonsmith::reward {

// Characters are code points of UTF-8; a byte that belongs to none counts as a character of its
// own.
double similarity(std::string_view a, std::string_view b);

}  // namespace tritonsmith::reward
