// Programs that each break one rule run in real guests. Each must get its own verdict, and the next
// honest guest must not notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gym/capture/testing/trial_pool.h"

namespace tritonsmith::gym::capture {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Hostile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto pool = start_trial_pool(
        {.slots = 2, .capture_seconds = 2, .memory_mib = 256, .output_kib = 64, .tmp_mib = 2});
    ASSERT_TRUE(pool) << pool.error().message;
    pool_ = std::move(*pool);
  }
  static void TearDownTestSuite() { pool_.reset(); }
  void TearDown() override {
    EXPECT_EQ(run("answer = 6 * 7"), R"(plan {"answer": 42})") << "the next honest guest";
  }

  static std::string run(std::string source) {
    return told(pool_->capture_now(python(std::move(source))));
  }
  static inline std::unique_ptr<CapturePool> pool_;
};

TEST_F(Hostile, InfiniteLoopTimesOut) {
  EXPECT_EQ(run("while True: pass"), "failure timeout: did not finish within 2 s");
}

TEST_F(Hostile, SleepPastTheDeadlineTimesOut) {
  EXPECT_EQ(run("import time; time.sleep(3600)"), "failure timeout: did not finish within 2 s");
}

TEST_F(Hostile, ForkBombCannotFork) {
  EXPECT_THAT(run("import os\nwhile True: os.fork()"),
              StartsWith("failure exception: PermissionError"));
  EXPECT_THAT(run("import os, ctypes\n"
                  "libc = ctypes.CDLL(None, use_errno=True)\n"
                  "pids = [libc.syscall(number, 17, 0, 0, 0, 0) for number in (56, 57, 58, 435)]\n"
                  "answer = pids"),
              HasSubstr("[-1, -1, -1, -1]"));
}

TEST_F(Hostile, DaemonCannotBeLeftBehind) {
  EXPECT_THAT(
      run("import subprocess; subprocess.Popen(['/bin/sleep', '3600'], start_new_session=True)"),
      StartsWith("failure exception: PermissionError"));
  EXPECT_THAT(run("import os; os.execv('/bin/sleep', ['sleep', '3600'])"),
              StartsWith("failure exception: PermissionError"));
}

TEST_F(Hostile, ThreadBombStopsAtTheLimit) {
  EXPECT_THAT(
      run("import threading, time\n"
          "while True: threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()"),
      HasSubstr("can't start new thread"));
}

TEST_F(Hostile, StdoutFloodIsCut) {
  EXPECT_EQ(run("while True: print('x' * 1000)"), "failure output_flood: printed more than 64 KiB");
  EXPECT_EQ(run("import os\nwhile True: os.write(2, b'x' * 1000)"),
            "failure output_flood: printed more than 64 KiB");
}

TEST_F(Hostile, EndingTheProcessIsNoSuccess) {
  EXPECT_EQ(run("import os; os._exit(0)"),
            "failure exited: ended its own process with exit code 0");
  EXPECT_EQ(run("import os; os._exit(7)"),
            "failure exited: ended its own process with exit code 7");
}

TEST_F(Hostile, SystemExitIsAnExceptionLikeAnyOther) {
  EXPECT_EQ(run("raise SystemExit(0)"), "failure exception: SystemExit: 0");
}

TEST_F(Hostile, SignalsToItselfAreNamed) {
  EXPECT_THAT(run("import os; os.kill(os.getpid(), 11)"),
              StartsWith("failure crashed: was killed by signal 11"));
  EXPECT_THAT(run("import os; os.kill(os.getpid(), 9)"), StartsWith("failure killed: "));
  EXPECT_THAT(run("import ctypes; ctypes.string_at(0)"),
              StartsWith("failure crashed: was killed by signal 11"));
  EXPECT_THAT(run("import os; os.abort()"), StartsWith("failure crashed: was killed by signal 6"));
}

TEST_F(Hostile, CannotKillItsParentNorAnyoneElse) {
  EXPECT_THAT(run("import os; os.kill(os.getppid(), 9)"),
              StartsWith("failure exception: PermissionError"));
  EXPECT_THAT(run("import os; os.kill(-1, 9)"), StartsWith("failure exception: PermissionError"));
  EXPECT_THAT(run("import os; os.killpg(0, 9)"), StartsWith("failure exception: PermissionError"));
}

TEST_F(Hostile, CannotOpenASocket) {
  EXPECT_THAT(run("import socket; socket.socket()"),
              StartsWith("failure exception: PermissionError"));
  EXPECT_THAT(run("import socket; socket.socketpair()"),
              StartsWith("failure exception: PermissionError"));
  EXPECT_THAT(run("import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)"),
              StartsWith("failure exception: PermissionError"));
}

TEST_F(Hostile, CannotReadSecrets) {
  EXPECT_THAT(run("open('/etc/shadow').read()"), StartsWith("failure exception: "));
  EXPECT_THAT(run("open('/proc/1/environ').read()"), StartsWith("failure exception: "));
  const auto store = TempDir::make("tritonsmith-store");
  ASSERT_TRUE(store);
  ASSERT_TRUE(write_file_atomic(store->path() / "tasks", "secret"));
  ASSERT_EQ(::chmod(store->path().c_str(), 0755), 0);
  EXPECT_THAT(run(fmt::format("open('{}/tasks').read()", store->path().string())),
              StartsWith("failure exception: "));
  EXPECT_THAT(run("import os; os.listdir('/root')"), StartsWith("failure exception: "));
}

TEST_F(Hostile, WritesNowhereButInItsOwnFolder) {
  const auto outside = TempDir::make("tritonsmith-outside");
  ASSERT_TRUE(outside);
  ASSERT_EQ(::chmod(outside->path().c_str(), 0777), 0);
  EXPECT_THAT(run(fmt::format("open('{}/mark', 'w')", outside->path().string())),
              StartsWith("failure exception: "));
  EXPECT_THAT(run("open('/tmp/mark', 'w')"), StartsWith("failure exception: "));
  EXPECT_THAT(run("import os, sys; open(os.path.join(sys.path[0], 'os.py'), 'w')"),
              StartsWith("failure exception: "));
  EXPECT_EQ(run("open('mark', 'w').write('x'); answer = open('mark').read()"),
            R"(plan {"answer": "x"})");
  EXPECT_EQ(run("import tempfile; answer = tempfile.NamedTemporaryFile('w').write('x')"),
            R"(plan {"answer": 1})");
  EXPECT_EQ(run("import os; answer = os.listdir('.')"), R"(plan {"answer": []})")
      << "a fresh folder each";
}

TEST_F(Hostile, CannotFillTheDisk) {
  EXPECT_THAT(run("f = open('big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))"),
              StartsWith("failure exception: OSError"));
}

TEST_F(Hostile, DeepFoldersAreRemoved) {
  EXPECT_THAT(run("import os\nfor i in range(200):\n  os.mkdir('d'); os.chdir('d')\nanswer = 1"),
              StartsWith("plan"));
}

TEST_F(Hostile, GiantAllocationIsRefused) {
  EXPECT_THAT(run("x = bytearray(1 << 40)"), StartsWith("failure exception: MemoryError"));
  EXPECT_THAT(run("x = []\nwhile True: x.append(bytearray(1 << 20))"),
              StartsWith("failure exception: MemoryError"));
}

TEST_F(Hostile, CannotUndoItsJail) {
  EXPECT_THAT(run("import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))"),
              StartsWith("failure exception: "));
  EXPECT_THAT(run("import ctypes; libc = ctypes.CDLL(None)\n"
                  "answer = [libc.prctl(1, 0), libc.prctl(4, 1), libc.unshare(0x10000000), "
                  "libc.ptrace(0, 0, 0, 0)]"),
              HasSubstr("[-1, -1, -1, -1]"));
  EXPECT_THAT(
      run("import os, ctypes; os.getuid() and os.setuid(0); os.getuid() or os.chown('.', 1, 1)"),
      StartsWith("failure exception: PermissionError"));
}

constexpr const char* kComms =
    "import os, socket, stat\n"
    "fds = [n for n in range(3, 256) if os.path.exists(f'/proc/self/fd/{n}') and "
    "stat.S_ISSOCK(os.fstat(n).st_mode)]\n"
    "comms = socket.socket(fileno=fds[0])\n";

TEST_F(Hostile, GarbageInsteadOfAReplyIsABadReply) {
  const std::string comms = kComms;
  EXPECT_THAT(run(comms + "comms.sendall(b'\\xff' * 1000)"), StartsWith("failure bad_reply"));
  EXPECT_THAT(run(comms + "comms.sendall(b'\\x04\\0\\0\\0oops')"), StartsWith("failure bad_reply"));
  EXPECT_THAT(run(comms + "comms.sendall(b'\\x02\\0\\0\\0[]')"), StartsWith("failure bad_reply"));
  EXPECT_THAT(run(comms + "comms.sendall(b'\\x10\\0\\0\\0{\"stage\"'); os._exit(0)"),
              StartsWith("failure exited"));
  EXPECT_THAT(run(comms + "comms.close(); import time; time.sleep(3600)"),
              StartsWith("failure timeout"));
}

TEST_F(Hostile, AForgedReplyCannotClaimMoreThanAPlan) {
  const std::string header = R"({"stage":"timed","error":{"class":"","message":"x"}})";
  EXPECT_THAT(
      run(kComms + fmt::format("comms.sendall(bytes([{},0,0,0]) + b'{}')", header.size(), header)),
      StartsWith("failure bad_reply"));
  const std::string judge = R"({"error":{"class":"infrastructure"},"capture_ms":1e308})";
  const std::string sends = "comms.sendall(bytes([{},0,0,0]) + b'{}')";
  const auto forged =
      pool_->capture_now(python(kComms + fmt::format(fmt::runtime(sends), judge.size(), judge)));
  EXPECT_EQ(std::get<sandbox::CandidateFailure>(forged.result).error.error_class,
            ErrorClass::exception);
  EXPECT_EQ(forged.stage_ms.back().first, "capture");
  EXPECT_LE(forged.stage_ms.back().second, 1e6);
  const auto outcome = pool_->capture_now(python("raise ValueError('x')"));
  EXPECT_EQ(std::get<sandbox::CandidateFailure>(outcome.result).stage, Stage::parsed);
}

TEST_F(Hostile, NoGuestSeesAnother) {
  pool_->capture(python("import time; time.sleep(0.5)"), [](CaptureOutcome) {});
  EXPECT_EQ(run("import os\n"
                "def open_to(pid):\n"
                "  try: return bool(os.listdir(f'/proc/{pid}/fd'))\n"
                "  except OSError: return False\n"
                "try: pids = [p for p in os.listdir('/proc') if p.isdigit()]\n"
                "except OSError: pids = []\n"
                "answer = [p for p in pids if int(p) != os.getpid() and open_to(p)]"),
            R"(plan {"answer": []})");
}

}  // namespace
}  // namespace tritonsmith::gym::capture
