// TempDir: a new directory for this process. The destructor removes it with all its contents.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace tritonsmith {

class TempDir {
 public:
  // Makes the directory below $TMPDIR or /tmp. Its name begins with `prefix`.
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
