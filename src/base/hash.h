// Content hashes: SHA-256 for keys of stores and caches, HMAC-SHA-256 for the judge's secret draws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tritonsmith {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view message);
// The first eight bytes of HMAC(key, message), little endian: a seed that who lacks the key cannot
// know.
std::uint64_t secret_seed(std::string_view key, std::string_view message);

std::string to_hex(const Digest& digest);
// to_hex(sha256(bytes)): how stores name content.
std::string content_key(std::string_view bytes);

}  // namespace tritonsmith
