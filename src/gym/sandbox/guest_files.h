// GuestFiles: the Python and the jail library that guests run, carried within our own binary and
// written at start into a private folder, which dies with this object. One binary suffices. Who is
// killed leaves the folder behind: it is ours only while we hold its lock, and whoever starts next
// removes those that nobody holds.
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
// Made at build time (capture/CMakeLists.txt).
std::span<const EmbeddedFile> embedded_guest_files();

// The interpreter that runs them: the one named, else $TRITONSMITH_PYTHON, else the build's.
std::string guest_python(const std::string& named);

class GuestFiles {
 public:
  static Result<GuestFiles> write();
  GuestFiles(GuestFiles&&) noexcept = default;
  GuestFiles& operator=(GuestFiles&&) noexcept = default;
  ~GuestFiles();

  // What Python's path begins with.
  std::filesystem::path package_root() const { return root_.path() / "python"; }
  std::filesystem::path jail_library() const;
  std::filesystem::path no_driver() const;  // a CUDA driver without devices, for guests
  // An empty folder for the zygote's room, and one for guests' folders where there is no room.
  std::filesystem::path staging() const { return root_.path() / "room"; }
  std::filesystem::path folders() const { return root_.path() / "guests"; }

 private:
  GuestFiles(TempDir root, Fd lease) : root_(std::move(root)), lease_(std::move(lease)) {}
  TempDir root_;
  Fd lease_;
};

}  // namespace tritonsmith::gym::sandbox
