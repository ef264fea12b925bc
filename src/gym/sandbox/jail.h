// The jail: a process gives up rights before it runs untrusted code. enter_jail() gives up, in
// order and for good, every right that capturing or compiling a kernel does not need. Each layer
// reports whether it held, and the profile names the layers that must hold. A freshly forked,
// single-threaded process calls it once and cannot undo it. docs/sandbox.md explains each layer.
// This code depends only on the standard library, because libtritonsmith_jail.so is built from it
// too, and the guest calls that by ctypes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gym/sandbox/default_layers.h"

namespace tritonsmith::gym::sandbox {

// Decides which system calls the filter refuses.
enum class JailRole {
  capture,  // one process: no fork, no exec, no sockets
  compile,  // may start the programs in `executable`
};

struct JailLayer {
  std::string name;  // "uid", "seccomp"; with a degree: "landlock=7"
  bool held = false;
  std::string why;  // the reason why it did not hold
};

struct JailProfile {
  JailRole role = JailRole::capture;
  // The slot's own user id, so that limits count for it alone and no guest reaches another's
  // processes. 0 keeps the present user where we are not root. The layer "uid" then does not hold.
  unsigned uid = 0;
  std::vector<std::string> readable;    // files and trees; missing ones are skipped
  std::vector<std::string> writable;    // the private temporary folder, /dev/null
  std::vector<std::string> executable;  // programs and their dynamic loader
  std::vector<int> keep_fds;            // in addition to 0, 1 and 2
  // The jail ends the process at once if its parent has another id by now; 0: no check.
  int parent_pid = 0;
  std::uint64_t processes = 64;  // of this uid, threads included
  std::uint64_t open_files = 256;
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  std::uint64_t cpu_seconds = 30;
  std::uint64_t memory_bytes = std::uint64_t{4}
                               << 30;  // address space beyond what is mapped already
  // Layers that already surround the process ("namespaces", "sandbox_root"). Reports list them first.
  std::vector<JailLayer> outside;
  std::vector<std::string> required = layers_of_jail();  // required_layers.h
};

struct JailReport {
  std::vector<JailLayer> layers;  // in the order of entry
  std::vector<std::string> held() const;
  // Empty when every requirement is met, else the first requirement that is not, with the reason.
  std::string refusal;
};

// If the report refuses, the process is only half jailed and must end.
JailReport enter_jail(const JailProfile& profile);

// Tells which layers hold on this machine: a child process enters namespaces, a sandbox root and a
// jail, and reports. `doctor` calls it while the program has one thread.
JailReport probe_jail_layers();

}  // namespace tritonsmith::gym::sandbox
