// TempDir: a fresh directory of our own, removed with all it holds when the object dies.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace tritonsmith {

class TempDir {
 public:
  // Below $TMPDIR or /tmp; the name begins with the prefix.
  static Result<TempDir> make(std::string_view prefix);
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempDir(std::filesystem::path path);
  std::filesystem::path path_;
};

}  // namespace tritonsmith
