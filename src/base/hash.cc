#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstring>

#include "base/check.h"

namespace tritonsmith {

Digest sha256(std::string_view bytes) {
  Digest digest{};
  unsigned size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  CHECK(done == 1 && size == digest.size(), "SHA-256 gave {} bytes", size);
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view message) {
  Digest digest{};
  unsigned size = 0;
  const auto* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                          digest.data(), &size);
  CHECK(done != nullptr && size == digest.size(), "HMAC gave {} bytes", size);
  return digest;
}

std::uint64_t secret_seed(std::string_view key, std::string_view message) {
  const Digest digest = hmac_sha256(key, message);
  std::uint64_t seed = 0;
  std::memcpy(&seed, digest.data(), sizeof seed);
  return seed;
}

std::string to_hex(const Digest& digest) {
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  return hex;
}

std::string content_key(std::string_view bytes) { return to_hex(sha256(bytes)); }

}  // namespace tritonsmith
