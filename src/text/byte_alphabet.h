// The alphabet in which byte-level vocabularies are written: each of the 256 bytes has one
// printable character (GPT-2's choice: printable Latin-1 stands for itself, the rest for U+0100 and
// up).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tritonsmith::text {

// The character for a byte, as UTF-8 (one or two bytes).
const std::string& alphabet_character(unsigned char byte);

std::string to_alphabet(std::string_view bytes);

// The bytes that a token of a vocabulary stands for; nothing when it holds a character outside the
// alphabet (a special token with a space in it, for example).
std::optional<std::string> from_alphabet(std::string_view token);

}  // namespace tritonsmith::text
