// GuestFiles: the Python and the jail library that guests run, carried within our own binary and
// written at start into a private folder, which dies with this object. One binary suffices.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/temp_dir.h"

namespace tritonsmith::gym {

struct EmbeddedFile {
  std::string_view name;  // "tritonsmith_guest/zygote.py"
  std::string_view bytes;
};
// Made at build time (capture/CMakeLists.txt).
std::span<const EmbeddedFile> embedded_guest_files();

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
  explicit GuestFiles(TempDir root) : root_(std::move(root)) {}
  TempDir root_;
};

}  // namespace tritonsmith::gym
