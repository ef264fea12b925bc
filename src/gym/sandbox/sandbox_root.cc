#include "gym/sandbox/sandbox_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tritonsmith::gym::sandbox {
namespace {

std::string because(const std::string& what) { return what + ": " + std::strerror(errno); }

bool within(const std::string& path, const std::string& tree) {
  return path == tree || path.compare(0, tree.size() + 1, tree + "/") == 0;
}

void make_parents(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    ::mkdir(path.substr(0, at).c_str(), 0755);
}

void make_read_only(const std::string& target) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (::syscall(SYS_mount_setattr, AT_FDCWD, target.c_str(), AT_RECURSIVE, &attributes,
                sizeof attributes) != 0)
    ::mount(nullptr, target.c_str(), nullptr,
            MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr);
}

enum class Access { read_only, device };

// Returns an empty string, or the reason of failure.
std::string bind(const std::string& staging, const std::string& path, Access access) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return "";
  const std::string target = staging + path;
  make_parents(target);
  if (S_ISLNK(status.st_mode)) {
    char link[4096];
    const ssize_t size = ::readlink(path.c_str(), link, sizeof link - 1);
    if (size > 0)
      ::symlinkat(std::string(link, static_cast<std::size_t>(size)).c_str(), AT_FDCWD,
                  target.c_str());
    return "";
  }
  if (S_ISDIR(status.st_mode)) {
    ::mkdir(target.c_str(), 0755);
  } else {
    ::close(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  }
  if (::mount(path.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return because("cannot bind " + path);
  if (access == Access::read_only) make_read_only(target);
  return "";
}

std::string bind_all(const SandboxRoot& plan) {
  std::vector<std::string> trees = plan.readable;
  std::sort(trees.begin(), trees.end());
  std::vector<std::string> bound;
  for (const auto& path : trees) {
    const auto covers = [&](const std::string& tree) { return within(path, tree); };
    if (std::any_of(bound.begin(), bound.end(), covers)) continue;
    if (std::string error = bind(plan.staging, path, Access::read_only); !error.empty())
      return error;
    bound.push_back(path);
  }
  for (const auto& path : plan.devices)
    if (std::string error = bind(plan.staging, path, Access::device); !error.empty()) return error;
  return "";
}

// Mounts a /proc that shows this PID namespace's processes, and to a guest only its own. If that is
// not permitted, it binds the existing /proc.
void mount_proc(const std::string& target) {
  ::mkdir(target.c_str(), 0555);
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (::mount("proc", target.c_str(), "proc", kFlags, "hidepid=2") == 0) return;
  ::mount("/proc", target.c_str(), nullptr, MS_BIND | MS_REC, nullptr);
}

bool move_into(const std::string& staging) {
  if (::chdir(staging.c_str()) != 0) return false;
  // The kernel refuses pivot_root if the present root is its first one (initramfs).
  if (::syscall(SYS_pivot_root, ".", ".") == 0)
    ::umount2(".", MNT_DETACH);
  else if (::chroot(".") != 0)
    return false;
  return ::chdir("/") == 0;
}

bool is_directory_at(int folder, const char* name) {
  struct stat status {};
  return ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

// Moves the folders within `name` up to `top`, then deletes its files and itself. It does not
// recurse, so the depth does not matter.
void flatten(int top, const std::string& name, std::uint64_t& counter) {
  const int fd = ::openat(top, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  ::fchmod(fd, 0700);
  DIR* folder = ::fdopendir(fd);
  if (folder == nullptr) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(folder)) {
    const std::string inner = entry->d_name;
    if (inner == "." || inner == "..") continue;
    if (is_directory_at(fd, inner.c_str()))
      ::renameat(fd, inner.c_str(), top, (".gone-" + std::to_string(counter++)).c_str());
    else
      ::unlinkat(fd, inner.c_str(), 0);
  }
  ::closedir(folder);
  ::unlinkat(top, name.c_str(), AT_REMOVEDIR);
}

}  // namespace

std::string enter_sandbox_root(const SandboxRoot& plan) {
  ::umask(0022);  // other users must be able to enter the new root
  // Mounts are shared by default. Private ones stay invisible outside.
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return because("cannot make mounts private");
  if (::mount("tritonsmith", plan.staging.c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
              "mode=755,size=16m,nr_inodes=16k") != 0)
    return because("cannot mount a root in memory");
  if (std::string error = bind_all(plan); !error.empty()) {
    ::umount2(plan.staging.c_str(), MNT_DETACH);
    return error;
  }
  mount_proc(plan.staging + "/proc");
  const std::string folders = plan.staging + "/tmp";
  ::mkdir(folders.c_str(), 0755);
  ::chmod(folders.c_str(), 0711);
  if (!move_into(plan.staging)) return because("cannot change the root");
  return "";
}

std::string make_private_folder(const std::string& path, unsigned uid, std::uint64_t bytes) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return because("cannot make " + path);
  const std::string options = "mode=700,nr_inodes=4096,size=" + std::to_string(bytes);
  ::mount("tritonsmith", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options.c_str());
  // A user namespace without other users refuses chown. The folder then keeps its owner.
  if (uid != 0 && ::chown(path.c_str(), uid, uid) != 0 && errno != EINVAL)
    return because("cannot give " + path + " away");
  return "";
}

void remove_private_folder(const std::string& path) {
  if (::umount2(path.c_str(), MNT_DETACH) == 0) {
    ::rmdir(path.c_str());
    return;
  }
  const int top = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (top < 0) return;
  std::uint64_t counter = 0;
  constexpr int kMaxRounds = 1 << 20;  // each round removes one folder
  for (int round = 0; round < kMaxRounds; ++round) {
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) break;
    std::string inner;
    while (const dirent* entry = ::readdir(folder)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (is_directory_at(top, entry->d_name)) {
        inner = name;
        break;
      }
      ::unlinkat(top, entry->d_name, 0);
    }
    ::closedir(folder);
    if (inner.empty()) break;
    // If a zygote without a mount namespace of its own died, its guests' folders are still mounted.
    ::umount2((path + "/" + inner).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    flatten(top, inner, counter);
    if (is_directory_at(top, inner.c_str())) break;  // it cannot be removed
  }
  ::close(top);
  ::rmdir(path.c_str());
}

}  // namespace tritonsmith::gym::sandbox
