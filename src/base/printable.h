// Makes foreign text safe for a terminal. A candidate's kernel, its error messages and a model's
// completion may hold escape sequences that would recolour, overwrite or command the terminal.
#pragma once

#include <string>
#include <string_view>

namespace tritonsmith {

// The text with each control character as "\u001b", as JSON writes it, so that a line of JSON stays
// one and means the same. Newlines and tabs stay. Controls of writing direction count as control
// characters, since they show a line in another order than it has. A byte that is no UTF-8 becomes
// "\xff".
std::string printable(std::string_view text);

// Returns the first bytes of the text, `most` at most, without a part of a character at the end.
std::string_view first_bytes(std::string_view text, std::size_t most);

}  // namespace tritonsmith
