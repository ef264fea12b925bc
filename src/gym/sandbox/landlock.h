// Confines a process by Landlock, called by system call numbers because Debian 12's headers know
// only its first ABI. A process names the files that it may still reach. It gives up all other
// files, TCP, signals to processes outside and abstract Unix sockets. It needs no privilege. The
// ruleset is made before the uid changes, because a path may lead through folders that the slot's
// user cannot enter.
#pragma once

#include <string>
#include <vector>

namespace tritonsmith::gym::sandbox {

class Landlock {
 public:
  Landlock(const std::vector<std::string>& readable, const std::vector<std::string>& writable,
           const std::vector<std::string>& executable);
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;
  ~Landlock();

  // Returns 0 or errno. Needs no_new_privs. It applies to this thread and its children, for good.
  int enforce() const;
  int abi() const { return abi_; }

 private:
  void allow(const std::string& path, unsigned long long rights);
  int abi_ = 0;
  int ruleset_ = -1;
  int error_ = 0;
};

}  // namespace tritonsmith::gym::sandbox
