#include "gym/capture/guest_files.h"

#include <sys/stat.h>

#include "base/file.h"
#include "gym/jail/room.h"

namespace tritonsmith::gym {
namespace {

constexpr std::string_view kPackage = "tritonsmith_guest";
constexpr std::string_view kJailLibrary = "libtritonsmith_jail.so";
constexpr std::string_view kNoDriver = "libtritonsmith_no_driver.so";

// Others may pass through but not list: a slot's user must reach the files below.
Status open_to_others(const std::filesystem::path& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0)
    return fail_errno(fmt::format("cannot open {}", path.string()));
  return ok();
}

}  // namespace

Result<GuestFiles> GuestFiles::write() {
  TRY_ASSIGN(TempDir root, TempDir::make("tritonsmith-guest"));
  GuestFiles files(std::move(root));
  const auto package = files.package_root() / kPackage;
  for (const auto& folder : {package, files.staging(), files.folders()})
    TRY(make_directories(folder));
  TRY(open_to_others(files.root_.path(), 0711));
  TRY(open_to_others(files.folders(), 0711));
  for (const EmbeddedFile& file : embedded_guest_files()) {
    TRY(write_file_atomic(package / file.name, file.bytes));
    TRY(open_to_others(package / file.name, 0444));
  }
  return files;
}

// What guests of a zygote that died made there may be deeper than a plain removal can go.
GuestFiles::~GuestFiles() {
  if (!root_.path().empty()) remove_private_folder(folders().string());
}

std::filesystem::path GuestFiles::jail_library() const {
  return package_root() / kPackage / kJailLibrary;
}

std::filesystem::path GuestFiles::no_driver() const {
  return package_root() / kPackage / kNoDriver;
}

}  // namespace tritonsmith::gym
