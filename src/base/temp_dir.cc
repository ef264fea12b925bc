#include "base/temp_dir.h"

#include <cstdlib>
#include <system_error>
#include <utility>

namespace tritonsmith {

Result<TempDir> TempDir::make(std::string_view prefix) {
  const char* root = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/{}-XXXXXX", root != nullptr ? root : "/tmp", prefix);
  if (::mkdtemp(name.data()) == nullptr)
    return fail_errno(fmt::format("cannot make a temporary directory {}", name));
  return TempDir(name);
}

TempDir::TempDir(std::filesystem::path path) : path_(std::move(path)) {}
TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}
TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}
TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace tritonsmith
