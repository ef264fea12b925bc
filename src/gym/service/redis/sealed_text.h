// Sealed texts: what one program leaves for another one in a store that others can write to. The
// seal is an HMAC with a key that both know. It binds the text to its purpose and its name, so that
// no sealed text can take another one's place. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::gym::service {

// The purpose and name of a text, so that it cannot be taken for something else.
struct SealedName {
  std::string_view purpose, name;
};

std::string seal(std::string_view key, SealedName of, std::string_view text);
// Returns the text. Fails if no holder of the key sealed it under this name.
Result<std::string> open_sealed(std::string_view key, SealedName of, std::string_view sealed);

// Reads a key: the first line of a file, with at least 32 characters.
Result<std::string> read_store_key(const std::filesystem::path& file);

}  // namespace tritonsmith::gym::service
