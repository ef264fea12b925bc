// SandboxRoot: the file system in which the zygote and all its guests live. Its root holds,
// read-only, only what Python needs. Its /proc shows only its own processes, and its /tmp lies in
// memory. The caller must be alone in a mount namespace, as the zygote is. The root also lets the
// slot's user reach a Python environment below a folder that it may not enter, such as /root. Where
// mounts are not permitted there is no sandbox root, and the jail's other layers must suffice.
#pragma once

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tritonsmith::gym::sandbox {

// The namespaces in which the zygote starts. It gets all of them or none.
constexpr unsigned long kZygoteNamespaces =
    CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

struct SandboxRoot {
  std::string staging;                // an empty folder to build the root on
  std::vector<std::string> readable;  // files, trees, links; missing ones are skipped
  std::vector<std::string> devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom"};
};
// Returns an empty string inside the new root, else the reason. The old root then stays.
std::string enter_sandbox_root(const SandboxRoot& plan);

// Makes a private folder for one guest. Where mounts are permitted it is a file system in memory
// with limits on bytes and files, else a plain folder. Returns an empty string or the reason of
// failure.
std::string make_private_folder(const std::string& path, unsigned uid, std::uint64_t bytes);
// Removes the folder with all its content, however deep and hostile.
void remove_private_folder(const std::string& path);

}  // namespace tritonsmith::gym::sandbox
