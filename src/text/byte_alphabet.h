// Converts between bytes and the alphabet of byte-level vocabularies. Each of the 256 bytes has one
// printable character. As in GPT-2, printable Latin-1 characters represent themselves, and the
// other bytes use U+0100 and up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tritonsmith::text {

// Returns the character for a byte as UTF-8 (one or two bytes).
const std::string& alphabet_character(unsigned char byte);

std::string to_alphabet(std::string_view bytes);

// Returns the bytes of a vocabulary's token. Returns nothing if it contains a character outside the
// alphabet, for example a special token with a space.
std::optional<std::string> from_alphabet(std::string_view token);

}  // namespace tritonsmith::text
