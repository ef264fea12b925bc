// Hashes contents: by SHA-256 for the keys of stores and caches, by HMAC-SHA-256 for the judge's
// secret seeds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tritonsmith {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view message);
// Returns the first eight bytes of HMAC(key, message), little endian. Without the key, this seed
// cannot be predicted.
std::uint64_t secret_seed(std::string_view key, std::string_view message);

std::string to_hex(const Digest& digest);
// Returns to_hex(sha256(bytes)), the name of a content in a store.
std::string content_key(std::string_view bytes);

}  // namespace tritonsmith
