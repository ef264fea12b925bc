// The layers of the jail that must hold where nothing else is asked (required_layers.h). Each kind of
// process demands what the kind above it demands, and more. Standard library only, as jail.h.
#pragma once

#include <string>
#include <vector>

namespace tritonsmith::gym::sandbox {

// The referee runs no candidate's code. Beside a GPU it can have no more layers, because the driver
// needs its device files and system calls.
inline std::vector<std::string> layers_of_referee() { return {"rlimits", "no_new_privs"}; }

// Any process that enters the whole jail.
inline std::vector<std::string> layers_of_jail() {
  return {"rlimits", "fds", "no_new_privs", "seccomp"};
}

// A guest runs foreign Python. Every user may open the device files of GPUs. Only the sandbox root and
// Landlock keep a guest from them, so one of these two must hold.
inline std::vector<std::string> layers_of_guest() {
  std::vector<std::string> layers = layers_of_jail();
  layers.emplace_back("sandbox_root|landlock");
  return layers;
}

}  // namespace tritonsmith::gym::sandbox
