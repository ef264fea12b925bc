// Landlock by its system calls (Debian 12's headers know only the first ABI): a process names the
// files it may still reach and gives up all others, TCP, signals to processes outside and abstract
// Unix sockets. Needs no privilege. The ruleset is made before the uid changes (a path may lead
// through folders that the slot's user cannot enter).
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

  // 0 or errno. Needs no_new_privs. For this thread and its children, for good.
  int enforce() const;
  int abi() const { return abi_; }

 private:
  void allow(const std::string& path, unsigned long long rights);
  int abi_ = 0;
  int ruleset_ = -1;
  int error_ = 0;
};

}  // namespace tritonsmith::gym::sandbox
