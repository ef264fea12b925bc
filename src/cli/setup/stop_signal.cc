#include "cli/setup/stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace tritonsmith::cli {
namespace {

std::atomic<int> pipe_end = -1;

void tell(int) {
  const char byte = 0;
  const auto ignored = ::write(pipe_end, &byte, 1);
  static_cast<void>(ignored);
}

}  // namespace

Result<StopSignal> StopSignal::install() {
  TRY_ASSIGN(Pipe pipe, make_pipe());
  pipe_end = pipe.write.get();
  struct sigaction action {};
  action.sa_handler = tell;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM})
    if (::sigaction(number, &action, nullptr) != 0) return fail_errno("cannot watch for signals");
  return StopSignal(std::move(pipe));
}

void StopSignal::restore() {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
}

void StopSignal::wait() const {
  char byte = 0;
  while (::read(pipe_.read.get(), &byte, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace tritonsmith::cli
