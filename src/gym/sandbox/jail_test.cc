#include "gym/sandbox/jail.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "gym/sandbox/required_layers.h"
#include "gym/sandbox/sandbox_root.h"

namespace tritonsmith::gym::sandbox {
namespace {

// Returns the wait status of a child that enters the jail and then calls `what`, whose result is
// its exit code.
int in_jail(JailProfile profile, const std::function<int()>& what) {
  if (::geteuid() == 0) profile.uid = 57998;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(enter_jail(profile).refusal.empty() ? what() : 99);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::map<std::string, bool> held_layers() {
  std::map<std::string, bool> held;
  for (const auto& layer : probe_jail_layers().layers)
    held[layer.name.substr(0, layer.name.find('='))] = layer.held;
  return held;
}

TEST(Jail, ProbeNamesEveryLayerInTheOrderOfEntry) {
  std::vector<std::string> names;
  for (const auto& layer : probe_jail_layers().layers) {
    names.push_back(layer.name.substr(0, layer.name.find('=')));
    EXPECT_EQ(layer.held, layer.why.empty()) << layer.name;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"namespaces", "sandbox_root", "session", "bounding_set",
                                      "groups", "uid", "capabilities", "parent_death", "rlimits",
                                      "dumpable", "no_new_privs", "landlock", "fds", "seccomp"}));
  EXPECT_EQ(unknown_layer(names), "");
}

TEST(Jail, TheLayersThatNeedNoPrivilegeHoldEverywhere) {
  auto held = held_layers();
  for (const char* name : {"session", "capabilities", "parent_death", "rlimits", "dumpable",
                           "no_new_privs", "fds", "seccomp"})
    EXPECT_TRUE(held[name]) << name;
}

TEST(Jail, ReachesOnlyTheFilesItNames) {
  if (!held_layers()["landlock"]) GTEST_SKIP() << "no Landlock here";
  const JailProfile profile{.readable = {"/usr/include"}, .writable = {"/dev/null"}};
  EXPECT_EQ(in_jail(profile,
                    [] {
                      const bool read = ::open("/usr/include/stdio.h", O_RDONLY) >= 0;
                      const bool write = ::open("/dev/null", O_WRONLY) >= 0;
                      const bool other = ::open("/etc/hostname", O_RDONLY) >= 0;
                      const bool made =
                          ::open("/tmp/tritonsmith-made", O_CREAT | O_WRONLY, 0600) >= 0;
                      return read && write && !other && !made ? 0 : 1;
                    }),
            0);
}

TEST(Jail, KeepsOnlyTheDescriptorsItNames) {
  const int kept = ::open("/dev/null", O_RDONLY), lost = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(in_jail({.keep_fds = {kept}},
                    [&] {
                      return ::fcntl(kept, F_GETFD) >= 0 && ::fcntl(lost, F_GETFD) < 0 &&
                                     ::fcntl(1, F_GETFD) >= 0
                                 ? 0
                                 : 1;
                    }),
            0);
  ::close(kept);
  ::close(lost);
}

TEST(Jail, ACompileWorkerMayForkAndACaptureGuestMayNot) {
  const auto can_fork = [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    return child > 0 ? 1 : 0;
  };
  EXPECT_EQ(in_jail({.role = JailRole::compile}, can_fork), 1);
  EXPECT_EQ(in_jail({.role = JailRole::capture}, can_fork), 0);
}

TEST(Jail, AWorkerStartsOnlyTheProgramsItNames) {
  if (!held_layers()["landlock"]) GTEST_SKIP() << "no Landlock here";
  const std::vector<std::string> trees = {"/usr", "/lib", "/lib64", "/etc/ld.so.cache"};
  const auto start = [] {
    ::execl("/usr/bin/true", "true", nullptr);
    return 7;
  };
  const std::string loader = std::filesystem::canonical("/lib64/ld-linux-x86-64.so.2");
  EXPECT_EQ(
      in_jail(
          {.role = JailRole::compile, .readable = trees, .executable = {"/usr/bin/true", loader}},
          start),
      0);
  EXPECT_EQ(
      in_jail(
          {.role = JailRole::compile, .readable = trees, .executable = {"/usr/bin/false", loader}},
          start),
      7);
}

TEST(Jail, ALayerThatIsRequiredAndMissingRefuses) {
  const JailProfile profile{.uid = ::geteuid() == 0 ? 0u : 57998u, .required = {"uid"}};
  const pid_t child = ::fork();
  if (child == 0) ::_exit(enter_jail(profile).refusal == "uid: Operation not permitted" ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Jail, WhatSurroundsItIsReportedFirstAndMayMeetARequirement) {
  const auto refusal = [](const JailLayer& root) {
    return in_jail({.outside = {root}, .required = {"sandbox_root"}}, [] { return 0; });
  };
  EXPECT_EQ(refusal({.name = "sandbox_root", .held = true}), 0);
  EXPECT_EQ(refusal({.name = "sandbox_root", .why = "no mounts"}), 99);
  EXPECT_EQ(in_jail({.required = {"sandbox_root"}}, [] { return 0; }), 99)
      << "no one said that it holds";
  EXPECT_EQ(in_jail({.required = {"seccmop"}}, [] { return 0; }), 99) << "a slip closes";
}

TEST(RequiredLayers, OneOfSeveralIsEnoughAndNoneSaysWhyOfEach) {
  const JailLayer no_root{.name = "sandbox_root", .why = "no mounts"};
  const JailLayer no_landlock{.name = "landlock", .why = "not in this kernel"};
  const JailLayer landlock{.name = "landlock=7", .held = true};
  EXPECT_EQ(unmet_requirement({no_root, landlock}, {"sandbox_root|landlock", "landlock"}), "");
  EXPECT_EQ(unmet_requirement({no_root}, {"room"}), "sandbox_root: no mounts");
  EXPECT_EQ(unmet_requirement({no_root, no_landlock}, {"sandbox_root|landlock"}),
            "sandbox_root: no mounts, landlock: not in this kernel");
  EXPECT_EQ(unmet_requirement({landlock}, {"landlock", "namespaces"}), "namespaces: no such layer");
}

TEST(RequiredLayers, EachKindOfProcessDemandsWhatTheOneBeforeDemands) {
  std::vector<std::string> before;
  for (const auto& layers : {layers_of_referee(), layers_of_jail(), layers_of_guest()}) {
    EXPECT_EQ(unknown_layer(layers), "");
    EXPECT_GT(layers.size(), before.size());
    for (const std::string& layer : before)
      EXPECT_NE(std::ranges::find(layers, layer), layers.end()) << layer;
    before = layers;
  }
}

TEST(RequiredLayers, ANameThatIsNoLayerIsReportedWithThoseThatAre) {
  EXPECT_EQ(unknown_layer({"seccomp", "sandbox_root|landlock"}), "");
  EXPECT_EQ(unknown_layer({"room|landlock"}), "") << "the layer's old name";
  for (const char* wrong : {"bogus", "", "sandbox_root|", "landlock=7"}) {
    const std::string why = unknown_layer({"seccomp", wrong});
    EXPECT_NE(why.find("is no layer of the jail"), std::string::npos) << wrong;
    EXPECT_NE(why.find(" no_new_privs "), std::string::npos) << why;
  }
}

// A device node that every user may read and write, as GPU nodes are.
class DeviceNode {
 public:
  DeviceNode() {
    ::mkdtemp(folder_.data());
    ::chmod(folder_.c_str(), 0755);
    made_ = ::mknod(path().c_str(), S_IFCHR | 0666, ::makedev(1, 3)) == 0 &&
            ::chmod(path().c_str(), 0666) == 0 && opens();
  }
  DeviceNode(const DeviceNode&) = delete;
  DeviceNode& operator=(const DeviceNode&) = delete;
  ~DeviceNode() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/nvidiactl"; }
  bool made() const { return made_; }
  bool opens() const {
    const int fd = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
    if (fd >= 0) ::close(fd);
    return fd >= 0;
  }

 private:
  std::string folder_ = "/tmp/tritonsmith-node-XXXXXX";
  bool made_ = false;
};

TEST(Jail, LandlockAloneKeepsFromDeviceNodesThatEveryUserMayOpen) {
  const DeviceNode node;
  if (!node.made()) GTEST_SKIP() << "device nodes cannot be made here";
  EXPECT_EQ(in_jail({}, [&] { return node.opens() ? 1 : 0; }), held_layers()["landlock"] ? 0 : 1);
}

TEST(SandboxRoot, HoldsFiveDevicesAndNoOther) {
  if (!held_layers()["sandbox_root"]) GTEST_SKIP() << "no sandbox root here";
  const DeviceNode node;
  std::string staging = "/tmp/tritonsmith-root-XXXXXX";
  ASSERT_NE(::mkdtemp(staging.data()), nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(static_cast<int>(kZygoteNamespaces)) != 0 ||
        !enter_sandbox_root({.staging = staging}).empty())
      ::_exit(99);
    int names = 0;
    DIR* folder = ::opendir("/dev");
    while (::readdir(folder) != nullptr) ++names;
    ::_exit(names == 2 + 5 && !node.opens() && ::open("/dev/null", O_WRONLY) >= 0 ? 0 : names);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ::rmdir(staging.c_str());
}

TEST(PrivateFolder, IsRemovedWithThoseInItThatAreMounted) {
  std::string root = "/tmp/tritonsmith-folder-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  for (const char* name : {"/guest-1", "/guest-2"}) {
    ASSERT_EQ(make_private_folder(root + name, 0, 1 << 20), "");
    std::ofstream(root + name + "/file") << "left";
  }
  remove_private_folder(root);
  EXPECT_FALSE(std::filesystem::exists(root));
}

TEST(PrivateFolder, IsRemovedHoweverDeepAndHostile) {
  std::string root = "/tmp/tritonsmith-folder-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const std::string tree = root + "/tree";
  ASSERT_EQ(::mkdir(tree.c_str(), 0700), 0);
  std::ofstream(root + "/outside") << "stays";
  const auto start = std::filesystem::current_path();
  ASSERT_EQ(::chdir(tree.c_str()), 0);
  for (int depth = 0; depth < 5000; ++depth) {
    ASSERT_EQ(::mkdir("d", 0700), 0);
    ::symlink((root + "/outside").c_str(), "link");
    ASSERT_EQ(::chdir("d"), 0);
  }
  ASSERT_EQ(::chdir(start.c_str()), 0);
  ::mkdir((tree + "/locked").c_str(), 0000);
  remove_private_folder(tree);
  EXPECT_FALSE(std::filesystem::exists(tree));
  EXPECT_TRUE(std::filesystem::exists(root + "/outside"));
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tritonsmith::gym::sandbox
