// Room: the small world in which the zygote and all its guests live: a root of its own that holds,
// read-only, what Python needs and nothing else; a /proc that shows only its own processes; a /tmp
// in memory. Whoever calls must be alone in a mount namespace (the zygote is started in one). It
// also gives the slot's user a way to an environment that lies below a folder it may not enter,
// such as /root. Where mounts are not permitted there is no room, and the jail's other layers must
// do.
#pragma once

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tritonsmith::gym::sandbox {

// What the zygote is started in, together or not at all.
constexpr unsigned long kZygoteNamespaces =
    CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

struct SandboxRoot {
  std::string staging;                // an empty folder to build it on
  std::vector<std::string> readable;  // files, trees, links; what does not exist is passed over
  std::vector<std::string> devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom"};
};
// Empty when we live in the room, else why not (and the old root is still there).
std::string enter_sandbox_root(const SandboxRoot& plan);

// A private folder for one guest: a file system in memory with bounds on bytes and files where
// mounts are permitted, else a plain folder. Empty, or why not.
std::string make_private_folder(const std::string& path, unsigned uid, std::uint64_t bytes);
// Removes it with all it holds, however deep and hostile.
void remove_private_folder(const std::string& path);

}  // namespace tritonsmith::gym::sandbox
