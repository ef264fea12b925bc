// GuestFiles: the Python and the jail library that guests run. The program carries them in its own
// binary and writes them to a private folder when it starts. The destructor removes the folder. A
// process that is killed leaves its folder behind without a lock, so each start removes the folders
// that nobody locks.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/temp_dir.h"

namespace tritonsmith::gym::sandbox {

struct EmbeddedFile {
  std::string_view name;  // "tritonsmith_guest/zygote.py"
  std::string_view bytes;
};
// The build makes these (capture/CMakeLists.txt).
std::span<const EmbeddedFile> embedded_guest_files();

// Returns the Python interpreter: the one named, else $TRITONSMITH_PYTHON, else the build's.
std::string guest_python(const std::string& named);

class GuestFiles {
 public:
  static Result<GuestFiles> write();
  GuestFiles(GuestFiles&&) noexcept = default;
  GuestFiles& operator=(GuestFiles&&) noexcept = default;
  ~GuestFiles();

  // The first folder on Python's path.
  std::filesystem::path package_root() const { return root_.path() / "python"; }
  std::filesystem::path jail_library() const;
  std::filesystem::path no_driver() const;  // a CUDA driver library without devices, for guests
  // Empty folders for the zygote's sandbox root and, if there is no such root, for guests.
  std::filesystem::path staging() const { return root_.path() / "root"; }
  std::filesystem::path folders() const { return root_.path() / "guests"; }

 private:
  GuestFiles(TempDir root, Fd lease) : root_(std::move(root)), lease_(std::move(lease)) {}
  TempDir root_;
  Fd lease_;
};

}  // namespace tritonsmith::gym::sandbox
