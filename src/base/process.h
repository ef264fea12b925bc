// Process: a child program with exactly the descriptors and the environment it is given. It starts
// in a session of its own, dies with the thread that started it (so start it from a thread that
// lives as long as it should), and is killed and reaped by the destructor. How it ended is data.
// One thread owns a Process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"

namespace tritonsmith {

// How a child ended, as the kernel tells its parent.
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
  int ours = -1;    // stays ours
  int theirs = -1;  // its number in the child
};

struct ProcessOptions {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::vector<GivenFd> fds;              // 0, 1 and 2 are /dev/null unless given
  unsigned long namespaces = 0;          // CLONE_NEW* to try together; where that is refused: none
};

class Process {
 public:
  static Result<Process> spawn(const ProcessOptions& options);
  Process(Process&&) noexcept = default;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  // Readable once the child has ended.
  const Fd& pidfd() const { return pidfd_; }
  // The CLONE_NEW* flags that held.
  unsigned long namespaces() const { return namespaces_; }

  // Fails when the deadline passes first; may be called again after it succeeded.
  Result<ExitStatus> wait(Deadline deadline);
  // The child, its session's process group and, where it has a PID namespace, all that lives in it.
  void kill_tree();

 private:
  Process(pid_t pid, Fd pidfd, unsigned long namespaces);
  void end();

  struct Pid {  // moves leave 0 behind
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
