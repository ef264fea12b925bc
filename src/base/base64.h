// Encodes and decodes Base64 (RFC 4648, with padding), for bytes that travel inside JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith {

std::string base64_encode(std::string_view bytes);
// Fails on characters outside the alphabet, missing padding and bits after the last byte.
Result<std::string> base64_decode(std::string_view text);

}  // namespace tritonsmith
