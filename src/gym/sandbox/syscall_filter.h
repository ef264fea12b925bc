// SyscallFilter: a seccomp deny list, made with libseccomp, of system calls for a jailed process.
// Refused calls fail with EPERM, so a candidate that tries one gets a Python exception with its
// line. clone3 fails with ENOSYS, so that callers fall back to clone, whose flags a filter can see.
// The jail builds the filter first and enforces it as its last act.
#pragma once

#include "gym/sandbox/jail.h"

namespace tritonsmith::gym::sandbox {

class SyscallFilter {
 public:
  explicit SyscallFilter(JailRole role);
  SyscallFilter(const SyscallFilter&) = delete;
  SyscallFilter& operator=(const SyscallFilter&) = delete;
  ~SyscallFilter();

  // Returns 0 or errno. It applies to this thread and its children, for good.
  int enforce() const;

 private:
  void refuse_family(const char* const* first, const char* const* last);
  void refuse_processes();
  void refuse_namespaces_of_clone();
  void refuse_signals_to_others();
  void refuse_arguments();

  void* context_ = nullptr;  // scmp_filter_ctx
  int error_ = 0;
};

}  // namespace tritonsmith::gym::sandbox
