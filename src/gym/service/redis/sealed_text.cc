#include "gym/service/redis/sealed_text.h"

#include "base/file.h"
#include "base/hash.h"

namespace tritonsmith::gym::service {
namespace {

constexpr std::size_t kMacSize = 64;
constexpr std::size_t kShortestKey = 32;

// The lengths make one message of the parts: no other parts give the same one.
std::string mac_of(std::string_view key, SealedName of, std::string_view text) {
  return to_hex(hmac_sha256(key, fmt::format("{}:{}:{}:{}:{}", of.purpose.size(), of.purpose,
                                             of.name.size(), of.name, text)));
}

// Takes the same time wherever they differ.
bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differing = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    differing |= static_cast<unsigned>(static_cast<unsigned char>(a[k] ^ b[k]));
  return differing == 0;
}

}  // namespace

std::string seal(std::string_view key, SealedName of, std::string_view text) {
  return mac_of(key, of, text) + std::string(text);
}

Result<std::string> open_sealed(std::string_view key, SealedName of, std::string_view sealed) {
  const std::string_view text = sealed.substr(std::min(sealed.size(), kMacSize));
  if (!are_equal(sealed.substr(0, kMacSize), mac_of(key, of, text)))
    return fail_by_fault(
        "the {} of {} has no valid seal: a program without the key wrote it, or one with another "
        "key",
        of.purpose, of.name);
  return std::string(text);
}

Result<std::string> read_store_key(const std::filesystem::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  std::string key = text.substr(0, text.find('\n'));
  if (key.size() < kShortestKey)
    return fail("{}: a key has at least {} characters; make one with `openssl rand -hex 32`",
                file.string(), kShortestKey);
  return key;
}

}  // namespace tritonsmith::gym::service
