#include "gym/sandbox/guest_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "gym/sandbox/sandbox_root.h"

namespace tritonsmith::gym::sandbox {
namespace {

constexpr std::string_view kPrefix = "tritonsmith-guests";
constexpr std::string_view kPackage = "tritonsmith_guest";
constexpr std::string_view kJailLibrary = "libtritonsmith_jail.so";
constexpr std::string_view kNoDriver = "libtritonsmith_no_driver.so";

// Other users may enter but not list the folder, as a slot's user must reach the files below.
Status open_to_others(const std::filesystem::path& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0)
    return fail_errno(fmt::format("cannot open {}", path.string()));
  return ok();
}

// Locks the folder. Fails if another process holds it, or if it is not ours or no longer exists.
Result<Fd> lease_folder(const std::filesystem::path& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  const bool held =
      folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(folder.get(), &facts) == 0;
  if (!held) return fail_errno(path.string());
  if (facts.st_uid != ::geteuid() || facts.st_nlink == 0)
    return fail("{} is not ours", path.string());
  return folder;
}

// Removes folders of programs that ended without cleaning up, usually by SIGKILL. Their guests may
// have nested folders deeper than a plain removal can handle.
void remove_left_folders(const std::filesystem::path& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(fmt::format("{}-", kPrefix))) continue;
    if (const auto lease = lease_folder(entry.path())) {
      remove_private_folder((entry.path() / "guests").string());
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
}

// Another program that starts at the same time may take a folder without a lock for an abandoned
// one and remove it. Then this function makes another.
Result<std::pair<TempDir, Fd>> make_leased_folder() {
  constexpr int attempts = 20;
  for (int attempt = 1;; ++attempt) {
    TRY_ASSIGN(TempDir root, TempDir::make(kPrefix));
    auto lease = lease_folder(root.path());
    if (lease) return std::pair(std::move(root), *std::move(lease));
    if (attempt == attempts) return tl::unexpected(lease.error());
  }
}

}  // namespace

std::string guest_python(const std::string& named) {
  if (!named.empty()) return named;
  const char* variable = std::getenv("TRITONSMITH_PYTHON");
  return variable != nullptr && *variable != '\0' ? variable : TRITONSMITH_PYTHON;
}

Result<GuestFiles> GuestFiles::write() {
  TRY_ASSIGN(auto leased, make_leased_folder());
  GuestFiles files(std::move(leased.first), std::move(leased.second));
  remove_left_folders(files.root_.path().parent_path());
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

// Guests of a zygote that died may have nested folders deeper than a plain removal can handle.
GuestFiles::~GuestFiles() {
  if (!root_.path().empty()) remove_private_folder(folders().string());
}

std::filesystem::path GuestFiles::jail_library() const {
  return package_root() / kPackage / kJailLibrary;
}

std::filesystem::path GuestFiles::no_driver() const {
  return package_root() / kPackage / kNoDriver;
}

}  // namespace tritonsmith::gym::sandbox
