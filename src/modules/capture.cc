#include "modules/capture.h"

#include <fmt/ranges.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/file.h"
#include "base/process.h"
#include "base/temp_dir.h"
#include "modules/helper.h"

namespace tritonsmith::modules {
namespace {

namespace fs = std::filesystem;

constexpr auto kTimeToEnd = std::chrono::seconds(10);
constexpr int kSignalsUntilKilled = 3;
constexpr const char* kPythonRan = "python";  // capture_start.py makes this file

// Returns the path of a program as a shell finds it.
Result<std::string> program_of(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path path = fs::path(rest.substr(0, end)) / name;
    if (end > 0 && ::access(path.c_str(), X_OK) == 0) return path.string();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (name.ends_with(".py")) return fail("{0} is no program: type `-- python {0} ...`", name);
  return fail("{}: no program of this name is on PATH", name);
}

// Returns the user's environment with the recording Python in front of PYTHONPATH. Compiled models
// run eagerly, because a compiled one does not call its modules.
std::vector<std::string> environment_of(const fs::path& helper, const fs::path& results,
                                        const fs::path& folder,
                                        const std::vector<std::string>& names) {
  const char* path = std::getenv("PYTHONPATH");
  const bool has_path = path != nullptr && *path != 0;
  std::vector<std::string> own = {
      "PYTHONPATH=" + helper.string() + (has_path ? ":" + std::string(path) : ""),
      "TRITONSMITH_CAPTURE=" + results.string(), "TRITONSMITH_CAPTURE_FOLDER=" + folder.string(),
      fmt::format("TRITONSMITH_CAPTURE_NAMES={}", fmt::join(names, " ")), "TORCHDYNAMO_DISABLE=1"};
  const auto is_own = [&](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    return std::ranges::any_of(own, [&](const auto& each) { return each.starts_with(name); });
  };
  std::vector<std::string> all;
  for (char** entry = ::environ; *entry != nullptr; ++entry)
    if (!is_own(*entry)) all.emplace_back(*entry);
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// Keeps SIGINT and SIGTERM from ending this process, and reads them from a descriptor.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  int fd() const { return fd_.get(); }
  // Returns the number of the next signal, or 0.
  int next() const {
    signalfd_siginfo info{};
    const bool has_read = ::read(fd_.get(), &info, sizeof info) == sizeof info;
    return has_read ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_{};
  Fd fd_;
};

// Waits until the command ends. It passes signals on; after some of them it kills the command.
Result<ExitStatus> wait_for(Process& command, const HeldSignals& signals, Deadline deadline) {
  int passed_on = 0;
  const auto pass_on = [&](int number) {
    if (++passed_on >= kSignalsUntilKilled)
      command.kill_tree();
    else
      ::kill(-command.pid(), number);
  };
  while (true) {
    pollfd ready[] = {{.fd = command.pidfd().get(), .events = POLLIN, .revents = 0},
                      {.fd = signals.fd(), .events = POLLIN, .revents = 0}};
    const int count = ::poll(ready, 2, deadline.poll_timeout());
    if (count < 0 && errno != EINTR) return fail_errno("cannot wait for the command");
    if (count < 0) continue;
    if (ready[0].revents != 0) return command.wait(Deadline::never());
    if (const int number = signals.next(); number != 0) pass_on(number);
    if (count == 0) {
      pass_on(SIGINT);
      deadline = Deadline::after(kTimeToEnd);
    }
  }
}

Result<std::vector<CapturedModule>> read_results(const fs::path& results) {
  TRY_ASSIGN(const auto files, entries_of(results));
  std::vector<CapturedModule> modules;
  for (const fs::path& file : files) {
    if (file.extension() != ".json") continue;
    TRY_ASSIGN(const std::string text, read_file(file));
    TRY_ASSIGN(const Json records, parse_json(text));
    for (const Json& record : records) {
      TRY_ASSIGN(CapturedModule module, captured_module_from_json(record));
      modules.push_back(std::move(module));
    }
  }
  return joined(modules);
}

}  // namespace

Result<Capture> capture(const CaptureRequest& request) {
  std::error_code error;
  const fs::path folder = fs::current_path(error);
  if (error) return fail("the current folder cannot be read: {}", error.message());
  ProcessOptions options{.argv = request.command,
                         .fds = {{.ours = 0, .theirs = 0}, {1, 1}, {2, 2}}};
  TRY_ASSIGN(options.argv.front(), program_of(request.command.front()));
  TRY_ASSIGN(const TempDir helper, write_helper());
  TRY_ASSIGN(const TempDir results, TempDir::make("tritonsmith-capture"));
  options.environment = environment_of(helper.path(), results.path(), folder, request.names);
  const HeldSignals signals;
  TRY_ASSIGN(Process command, Process::spawn(options));
  const Deadline deadline = request.limit ? Deadline::after(*request.limit) : Deadline::never();
  TRY_ASSIGN(const ExitStatus status, wait_for(command, signals, deadline));
  const std::string ending = deadline.passed()
                                 ? fmt::format("was stopped after {} s", request.limit->count())
                             : status.success() ? ""
                                                : describe(status);
  TRY_ASSIGN(auto modules, read_results(results.path()));
  if (modules.empty() && !fs::exists(results.path() / kPythonRan))
    return fail("no Python that can be recorded ran{}; it must not run with -I, -E or -S",
                ending.empty() ? "" : ", and the command " + ending);
  if (modules.empty())
    return fail(
        "the command called no torch module{}{}{}",
        request.names.empty() ? "" : fmt::format(" and no {}", fmt::join(request.names, ", ")),
        ending.empty() ? "" : " and " + ending,
        request.names.empty() ? "; a function is recorded if --module names it" : "");
  return Capture{.modules = std::move(modules), .ending = ending};
}

}  // namespace tritonsmith::modules
