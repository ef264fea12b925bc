#include "gym/sandbox/jail.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "gym/sandbox/landlock.h"
#include "gym/sandbox/required_layers.h"
#include "gym/sandbox/syscall_filter.h"

namespace tritonsmith::gym::sandbox {
namespace {

// Each layer returns 0, or the errno that says why it does not hold.
int errno_of(long result) { return result < 0 ? errno : 0; }

int leave_the_session() {
  if (::getsid(0) == ::getpid()) return 0;
  return errno_of(::setsid());
}

int drop_groups() {
  if (::geteuid() != 0) return EPERM;
  return errno_of(::setgroups(0, nullptr));
}

// After this, no program started later can regain a capability. It needs root, so it comes before
// the change of uid.
int drop_bounding_set() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return errno;
  return 0;
}

int drop_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[2] = {};
  return errno_of(::syscall(SYS_capset, &header, none));
}

// Uses the bare system calls, because glibc's versions would signal the other threads, of which
// there are none.
int become(unsigned uid) {
  if (uid == 0) return EPERM;
  if (const int error = errno_of(::syscall(SYS_setresgid, uid, uid, uid))) return error;
  return errno_of(::syscall(SYS_setresuid, uid, uid, uid));
}

// Must follow the change of uid, which clears the setting.
int die_with_the_parent(int parent_pid) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (parent_pid != 0 && ::getppid() != parent_pid) ::_exit(1);
  return 0;
}

std::uint64_t mapped_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return std::uint64_t{8} << 30;
  unsigned long long pages = 0;
  const int found = std::fscanf(file, "%llu", &pages);
  std::fclose(file);
  return found == 1 ? pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))
                    : std::uint64_t{8} << 30;
}

int limit(__rlimit_resource resource, std::uint64_t soft, std::uint64_t hard) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return errno;
  const rlimit wanted{.rlim_cur = std::min<rlim_t>(soft, now.rlim_max),
                      .rlim_max = std::min<rlim_t>(hard, now.rlim_max)};
  return errno_of(::setrlimit(resource, &wanted));
}

int limit_resources(const JailProfile& profile) {
  const std::uint64_t memory = mapped_bytes() + profile.memory_bytes;
  for (const int error :
       {limit(RLIMIT_NPROC, profile.processes, profile.processes),
        limit(RLIMIT_NOFILE, profile.open_files, profile.open_files),
        limit(RLIMIT_FSIZE, profile.file_bytes, profile.file_bytes), limit(RLIMIT_CORE, 0, 0),
        // The kernel sends SIGXCPU at the limit and SIGKILL one second later.
        limit(RLIMIT_CPU, profile.cpu_seconds, profile.cpu_seconds + 1),
        limit(RLIMIT_AS, memory, memory), limit(RLIMIT_MEMLOCK, 0, 0),
        limit(RLIMIT_MSGQUEUE, 0, 0)})
    if (error != 0) return error;
  return 0;
}

int close_range_from(unsigned first, unsigned last) {
  if (first > last) return 0;
  return errno_of(::syscall(SYS_close_range, first, last, 0));
}

int close_other_fds(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned from = 3;
  for (const int fd : keep) {
    if (fd < 3) continue;
    if (const int error = close_range_from(from, static_cast<unsigned>(fd) - 1)) return error;
    from = static_cast<unsigned>(fd) + 1;
  }
  return close_range_from(from, ~0U);
}

class Reporter {
 public:
  explicit Reporter(const JailProfile& profile) : required_(profile.required) {
    report_.layers = profile.outside;
  }

  void layer(const std::string& name, int error, const std::string& degree = {}) {
    report_.layers.push_back({.name = error == 0 && !degree.empty() ? name + "=" + degree : name,
                              .held = error == 0,
                              .why = error == 0 ? "" : std::strerror(error)});
  }
  JailReport take() {
    report_.refusal = unmet_requirement(report_.layers, required_);
    return std::move(report_);
  }

 private:
  const std::vector<std::string>& required_;
  JailReport report_;
};

}  // namespace

std::vector<std::string> JailReport::held() const {
  std::vector<std::string> names;
  for (const auto& layer : layers)
    if (layer.held) names.push_back(layer.name);
  return names;
}

// The body is the specification: each line gives up one right, and the order matters.
JailReport enter_jail(const JailProfile& profile) {
  Reporter report(profile);
  const Landlock files(profile.readable, profile.writable, profile.executable);
  const SyscallFilter calls(profile.role);

  report.layer("session", leave_the_session());
  report.layer("bounding_set", drop_bounding_set());
  report.layer("groups", drop_groups());
  report.layer("uid", profile.uid != 0 && ::getuid() == profile.uid ? 0 : become(profile.uid));
  report.layer("capabilities", drop_capabilities());
  report.layer("parent_death", die_with_the_parent(profile.parent_pid));
  report.layer("rlimits", limit_resources(profile));
  report.layer("dumpable", errno_of(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)));
  report.layer("no_new_privs", errno_of(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
  report.layer("landlock", files.enforce(), std::to_string(files.abi()));
  report.layer("fds", close_other_fds(profile.keep_fds));
  report.layer("seccomp", calls.enforce());
  return report.take();
}

}  // namespace tritonsmith::gym::sandbox
