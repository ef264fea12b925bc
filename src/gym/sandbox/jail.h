// The jail: what a process does to itself before it runs code that we do not trust. enter_jail()
// gives up, in order and for good, every right that capturing or compiling a kernel does not need;
// each layer reports whether it held, and the profile says which ones must. Called once, by a
// freshly forked, single-threaded process; it cannot be undone. docs/sandbox.md says what each
// layer is for. Nothing here depends on the rest of the program but the standard library: the same
// code is built into libtritonsmith_jail.so, which the guest calls by ctypes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tritonsmith::gym::sandbox {

// What the system calls are filtered for.
enum class JailRole {
  capture,  // one process: no fork, no exec, no sockets
  compile,  // may start the programs in `executable`
};

struct JailLayer {
  std::string name;  // "uid", "seccomp"; where there are degrees: "landlock=7"
  bool held = false;
  std::string why;  // it did not hold
};

struct JailProfile {
  JailRole role = JailRole::capture;
  // The slot's own user, so that limits count for it alone and no guest reaches another's
  // processes. 0 keeps the present one (where we are not root), and "uid" is then not held.
  unsigned uid = 0;
  std::vector<std::string> readable;    // files and trees; what does not exist is passed over
  std::vector<std::string> writable;    // the private temporary folder, /dev/null
  std::vector<std::string> executable;  // programs and their loader
  std::vector<int> keep_fds;            // besides 0, 1 and 2
  int parent_pid = 0;            // end at once if the parent is another by now; 0: do not look
  std::uint64_t processes = 64;  // threads included, of this uid
  std::uint64_t open_files = 256;
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  std::uint64_t cpu_seconds = 30;
  std::uint64_t memory_bytes = std::uint64_t{4}
                               << 30;  // address space beyond what is mapped already
  // What surrounds the process already ("namespaces", "room"): reported before its own layers.
  std::vector<JailLayer> outside;
  std::vector<std::string> required = {"rlimits", "fds", "no_new_privs",
                                       "seccomp"};  // required_layers.h
};

struct JailReport {
  std::vector<JailLayer> layers;  // in the order of entry
  std::vector<std::string> held() const;
  // Empty when every requirement is met, else the first that is not, and why.
  std::string refusal;
};

// On a refusal the process is half jailed and must end.
JailReport enter_jail(const JailProfile& profile);

// Which layers hold on this machine: a child enters namespaces, a room and a jail, and tells. For
// `doctor`, from a single-threaded moment.
JailReport probe_jail_layers();

}  // namespace tritonsmith::gym::sandbox
