#include "gym/sandbox/syscall_filter.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

namespace tritonsmith::gym::sandbox {
namespace {

// The installed libseccomp may not know newer names. The filter skips these.
constexpr const char* kRefused[] = {
    // Calls that reach other machines, or other processes by sockets or shared memory. Sockets and
    // memory that are already open still work.
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "shmget", "shmat",
    "msgget", "semget", "mq_open", "memfd_create", "memfd_secret",
    // Calls that reach other processes directly.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kcmp", "tkill", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "setpriority", "sched_setscheduler", "sched_setattr", "ioprio_set",
    // Large or new interfaces of the kernel.
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "personality", "modify_ldt",
    "lookup_dcookie", "uselib", "fanotify_init", "vmsplice", "remap_file_pages",
    // Calls that change or bypass the tree of file systems.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns", "open_by_handle_at",
    "name_to_handle_at", "mknod", "mknodat", "quotactl", "quotactl_fd", "acct", "swapon", "swapoff",
    // Calls that change the machine.
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
    "iopl", "ioperm", "syslog", "vhangup", "nfsservctl", "move_pages", "migrate_pages"};

constexpr const char* kNewProcesses[] = {"fork", "vfork", "execve", "execveat"};

constexpr std::uint32_t kRefusal = SCMP_ACT_ERRNO(EPERM);

void refuse(scmp_filter_ctx context, const char* name,
            std::initializer_list<scmp_arg_cmp> arguments, int& error) {
  const int number = ::seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return;
  const int result = ::seccomp_rule_add_array(
      context, kRefusal, number, static_cast<unsigned>(arguments.size()), arguments.begin());
  // -EINVAL and -EDOM mean that the architecture has no such call.
  if (result < 0 && result != -EINVAL && result != -EDOM) error = -result;
}

}  // namespace

SyscallFilter::SyscallFilter(JailRole role) {
  context_ = ::seccomp_init(SCMP_ACT_ALLOW);
  if (context_ == nullptr) {
    error_ = ENOMEM;
    return;
  }
  ::seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  refuse_family(std::begin(kRefused), std::end(kRefused));
  if (role == JailRole::capture) refuse_processes();
  if (role == JailRole::compile) refuse_namespaces_of_clone();
  const int clone3 = ::seccomp_syscall_resolve_name("clone3");
  if (clone3 != __NR_SCMP_ERROR) ::seccomp_rule_add(context_, SCMP_ACT_ERRNO(ENOSYS), clone3, 0);
  refuse_signals_to_others();
  refuse_arguments();
}

SyscallFilter::~SyscallFilter() {
  if (context_ != nullptr) ::seccomp_release(context_);
}

void SyscallFilter::refuse_family(const char* const* first, const char* const* last) {
  for (; first != last; ++first) refuse(context_, *first, {}, error_);
}

// Threads stay possible: clone with CLONE_THREAD.
void SyscallFilter::refuse_processes() {
  refuse_family(std::begin(kNewProcesses), std::end(kNewProcesses));
  refuse(context_, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)}, error_);
}

void SyscallFilter::refuse_namespaces_of_clone() {
  for (const unsigned long flag : {CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                                   CLONE_NEWUTS, CLONE_NEWUSER, CLONE_NEWCGROUP})
    refuse(context_, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)}, error_);
}

void SyscallFilter::refuse_signals_to_others() {
  const auto self = static_cast<scmp_datum_t>(::getpid());
  refuse(context_, "kill", {SCMP_A0(SCMP_CMP_NE, self)}, error_);
  refuse(context_, "tgkill", {SCMP_A0(SCMP_CMP_NE, self)}, error_);
}

void SyscallFilter::refuse_arguments() {
  // The kernel reads only the low 32 bits of an ioctl's command.
  for (const unsigned long command : {TIOCSTI, TIOCLINUX, TIOCSETD})
    refuse(context_, "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffUL, command)}, error_);
  for (const int option : {PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MM, PR_SET_CHILD_SUBREAPER})
    refuse(context_, "prctl",
           {SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffffUL, static_cast<scmp_datum_t>(option))}, error_);
}

int SyscallFilter::enforce() const {
  if (error_ != 0) return error_;
  return -::seccomp_load(context_);
}

}  // namespace tritonsmith::gym::sandbox
