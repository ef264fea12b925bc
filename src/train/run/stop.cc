#include "train/run/stop.h"

#include <csignal>

#include "base/check.h"

namespace tritonsmith::train {
namespace {

std::atomic<StopFlag*> flag_to_set = nullptr;

void set_flag(int) {
  if (StopFlag* flag = flag_to_set.load(); flag != nullptr) flag->store(true);
}

void handle(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals(StopFlag& flag) {
  CHECK(flag_to_set.load() == nullptr, "two StopSignals at once");
  flag_to_set = &flag;
  handle(set_flag, static_cast<int>(SA_RESTART | SA_RESETHAND));
}

StopSignals::~StopSignals() {
  handle(SIG_DFL, 0);
  flag_to_set = nullptr;
}

}  // namespace tritonsmith::train
