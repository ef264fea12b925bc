// Process: a child program with exactly the descriptors and the environment that it is given. The
// child runs in its own session. It dies with the thread that started it, so that thread must live
// as long as the child is needed. The destructor kills and reaps the child. The way a child ended
// is data, not an error. One thread owns a Process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"

namespace tritonsmith {

// The way a child ended, as the kernel reports it to its parent.
struct ExitStatus {
  enum class Kind { exited, signalled };
  Kind kind = Kind::exited;
  int code = 0;  // exit code, or signal number
  bool success() const { return kind == Kind::exited && code == 0; }
  bool operator==(const ExitStatus&) const = default;
};
ExitStatus exit_status_from_wait(int wait_status);
// "exited with code 3", "killed by signal 11 (Segmentation fault)".
std::string describe(ExitStatus status);

struct GivenFd {
  int ours = -1;    // the descriptor in this process, which keeps it
  int theirs = -1;  // its number in the child
};

struct ProcessOptions {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::vector<GivenFd> fds;              // 0, 1 and 2 are /dev/null unless given
  // CLONE_NEW* flags. If the kernel refuses them together, the child gets none of them.
  unsigned long namespaces = 0;
};

class Process {
 public:
  static Result<Process> spawn(const ProcessOptions& options);
  Process(Process&&) noexcept = default;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  // Becomes readable when the child has ended.
  const Fd& pidfd() const { return pidfd_; }
  // The CLONE_NEW* flags that the kernel granted.
  unsigned long namespaces() const { return namespaces_; }

  // Fails when the deadline passes first. After it has succeeded, it may be called again.
  Result<ExitStatus> wait(Deadline deadline);
  // Kills the child and its session's process group. With a PID namespace it also kills all other
  // processes in that namespace.
  void kill_tree();

 private:
  Process(pid_t pid, Fd pidfd, unsigned long namespaces);
  void end();

  struct Pid {  // a move leaves 0 behind
    pid_t value = 0;
    Pid(pid_t pid = 0) : value(pid) {}
    Pid(Pid&& other) noexcept : value(std::exchange(other.value, 0)) {}
    Pid& operator=(Pid&& other) noexcept {
      std::swap(value, other.value);
      return *this;
    }
    operator pid_t() const { return value; }
  };
  Pid pid_;
  Fd pidfd_;
  unsigned long namespaces_ = 0;
  bool reaped_ = false;
  ExitStatus status_;
};

}  // namespace tritonsmith
