#include "gym/jail/jail.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "gym/jail/room.h"

namespace tritonsmith::gym {
namespace {

// The wait status of a child that enters the jail and then does `what`; its exit code is what that
// returns.
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
  EXPECT_EQ(names, (std::vector<std::string>{"session", "bounding_set", "groups", "uid",
                                             "capabilities", "parent_death", "rlimits", "dumpable",
                                             "no_new_privs", "landlock", "fds", "seccomp"}));
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
}  // namespace tritonsmith::gym
