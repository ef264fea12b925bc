#include "base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace tritonsmith {
namespace {

std::string drain(const Fd& fd) {
  std::string text;
  char buffer[256];
  for (ssize_t got = 0; (got = ::read(fd.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

ProcessOptions shell(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)}, .environment = {"PATH=/usr/bin:/bin"}};
}

Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

TEST(Fd, ClosesWhatItOwnsAndMovesLeaveNothingBehind) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const int number = pipe->write.get();
  Fd moved = std::move(pipe->write);
  EXPECT_FALSE(pipe->write.valid());
  moved.reset();
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(Process, SaysHowTheChildEnded) {
  auto seven = Process::spawn(shell("exit 7"));
  ASSERT_TRUE(seven) << seven.error().message;
  EXPECT_EQ(seven->wait(soon()).value(), (ExitStatus{ExitStatus::Kind::exited, 7}));
  EXPECT_EQ(seven->wait(soon()).value().code, 7) << "asked twice";
  auto killed = Process::spawn(shell("kill -SEGV $$"));
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->wait(soon()).value(), (ExitStatus{ExitStatus::Kind::signalled, SIGSEGV}));
}

TEST(Process, GivesTheNamedDescriptorsAndEnvironmentAndNoOther) {
  auto out = make_pipe();
  auto secret = make_pipe();
  ASSERT_TRUE(out && secret);
  ::setenv("TRITONSMITH_LEAK", "yes", 1);
  ProcessOptions options = shell("echo \"$GIVEN,$TRITONSMITH_LEAK\" >&5; ls /proc/self/fd >&5");
  options.environment.push_back("GIVEN=ok");
  options.fds = {{.ours = out->write.get(), .theirs = 5}};
  auto process = Process::spawn(options);
  ASSERT_TRUE(process);
  out->write.reset();
  EXPECT_EQ(drain(out->read), "ok,\n0\n1\n2\n3\n5\n") << "3 is ls's own";
}

TEST(Process, GivesDescriptorsCrosswise) {
  auto first = make_pipe(), second = make_pipe();
  ASSERT_TRUE(first && second);
  const int a = first->write.get(), b = second->write.get();
  ProcessOptions options = shell(fmt::format("echo a >&{}; echo b >&{}", b, a));
  options.fds = {{a, b}, {b, a}};
  auto process = Process::spawn(options);
  ASSERT_TRUE(process);
  first->write.reset();
  second->write.reset();
  EXPECT_EQ(drain(first->read), "a\n");
  EXPECT_EQ(drain(second->read), "b\n");
}

TEST(Process, NamesTheProgramThatCannotBeStarted) {
  const auto process = Process::spawn({.argv = {"/no/such/program"}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "cannot start /no/such/program: No such file or directory");
}

TEST(Process, WaitingEndsAtTheDeadline) {
  auto process = Process::spawn(shell("sleep 60"));
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->wait(Deadline::after(std::chrono::milliseconds(5))));
}

TEST(Process, DyingObjectKillsTheWholeGroup) {
  auto out = make_pipe();
  ASSERT_TRUE(out);
  {
    ProcessOptions options = shell("sleep 60 & echo up; wait");
    options.fds = {{out->write.get(), 1}};
    auto process = Process::spawn(options);
    ASSERT_TRUE(process);
    char up[3];
    ASSERT_EQ(::read(out->read.get(), up, 3), 3);
  }
  out->write.reset();
  EXPECT_EQ(drain(out->read), "") << "the pipe closes only when the background child is dead too";
}

}  // namespace
}  // namespace tritonsmith
