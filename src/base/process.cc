#include "base/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/check.h"

namespace tritonsmith {
namespace {

constexpr int kFirstHighFd = 512;

// All data that the child needs between fork and exec. The parent prepares it, because the child
// may neither allocate memory nor take a lock there.
struct Launch {
  std::vector<char*> argv, environment;
  std::vector<GivenFd> fds;
  int error_pipe = -1;
};

[[noreturn]] void give_up(const Launch& launch) {
  const int error = errno;
  const ssize_t written = ::write(launch.error_pipe, &error, sizeof error);
  ::_exit(written == sizeof error ? 127 : 126);
}

void arrange_fds(const Launch& launch) {
  // This also covers descriptors that other code opened without close-on-exec. An old kernel
  // refuses the call; those descriptors then stay open.
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  int high[32];  // The sources move to high numbers first, so that no target overwrites a source.
  for (std::size_t i = 0; i < launch.fds.size(); ++i) {
    high[i] = ::fcntl(launch.fds[i].ours, F_DUPFD_CLOEXEC, kFirstHighFd);
    if (high[i] < 0) give_up(launch);
  }
  for (std::size_t i = 0; i < launch.fds.size(); ++i)
    if (::dup2(high[i], launch.fds[i].theirs) < 0) give_up(launch);
}

[[noreturn]] void run_child(const Launch& launch) {
  ::setsid();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(launch);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  arrange_fds(launch);
  ::execve(launch.argv[0], launch.argv.data(), launch.environment.data());
  give_up(launch);
}

// Works like fork, and adds new namespaces and a pidfd. Returns 0 in the child.
pid_t fork_with(unsigned long namespaces, int& pidfd) {
  return static_cast<pid_t>(
      ::syscall(SYS_clone, namespaces | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr));
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (const auto& each : strings) list.push_back(const_cast<char*>(each.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

ExitStatus exit_status_from_wait(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return {.kind = ExitStatus::Kind::signalled, .code = WTERMSIG(wait_status)};
  return {.kind = ExitStatus::Kind::exited, .code = WEXITSTATUS(wait_status)};
}

std::string describe(ExitStatus status) {
  if (status.kind == ExitStatus::Kind::exited)
    return fmt::format("exited with code {}", status.code);
  return fmt::format("killed by signal {} ({})", status.code, ::strsignal(status.code));
}

Result<Process> Process::spawn(const ProcessOptions& options) {
  CHECK(!options.argv.empty(), "a program is needed");
  CHECK(options.fds.size() <= 28, "{} descriptors are too many", options.fds.size());
  TRY_ASSIGN(Pipe error_pipe, make_pipe());
  TRY_ASSIGN(const Fd null, open_fd("/dev/null", O_RDWR));
  Launch launch{.argv = pointers(options.argv),
                .environment = pointers(options.environment),
                .fds = {{null.get(), 0}, {null.get(), 1}, {null.get(), 2}},
                .error_pipe = error_pipe.write.get()};
  for (const GivenFd& given : options.fds) launch.fds.push_back(given);
  for (GivenFd& given : launch.fds)  // no target may have the number of the pipe
    CHECK(given.theirs < kFirstHighFd, "descriptor {} is out of range", given.theirs);
  const Fd high_pipe(::fcntl(launch.error_pipe, F_DUPFD_CLOEXEC, kFirstHighFd));
  if (!high_pipe) return fail_errno("cannot prepare a child");
  launch.error_pipe = high_pipe.get();
  error_pipe.write.reset();

  int pidfd = -1;
  unsigned long held = options.namespaces;
  pid_t pid = fork_with(held, pidfd);
  if (pid < 0 && held != 0) pid = fork_with(held = 0, pidfd);
  if (pid < 0) return fail_errno(fmt::format("cannot start {}", options.argv[0]));
  if (pid == 0) run_child(launch);

  Process process(pid, Fd(pidfd), held);
  const_cast<Fd&>(high_pipe).reset();
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(error_pipe.read.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got == sizeof error) {
    errno = error;
    return fail_errno(fmt::format("cannot start {}", options.argv[0]));
  }
  return process;
}

Process::Process(pid_t pid, Fd pidfd, unsigned long namespaces)
    : pid_(pid), pidfd_(std::move(pidfd)), namespaces_(namespaces) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(namespaces_, other.namespaces_);
  std::swap(reaped_, other.reaped_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() { end(); }

void Process::end() {
  if (pid_ == 0 || reaped_) return;
  kill_tree();
  const auto ignored = wait(Deadline::never());
  static_cast<void>(ignored);
}

Result<ExitStatus> Process::wait(Deadline deadline) {
  if (reaped_) return status_;
  pollfd ready{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  while (true) {
    const int count = ::poll(&ready, 1, deadline.poll_timeout());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot wait for a child");
    if (count == 0) return fail("the child {} has not ended in time", pid_.value);
    break;
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0)
    if (errno != EINTR) return fail_errno("cannot reap a child");
  reaped_ = true;
  status_ = exit_status_from_wait(status);
  return status_;
}

void Process::kill_tree() {
  if (pid_ == 0 || reaped_) return;
  ::kill(-pid_, SIGCONT);
  // The process group. This fails until the child has called setsid, so the next line kills the
  // child itself.
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

}  // namespace tritonsmith
