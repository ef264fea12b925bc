#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <utility>

#include "base/utc_time.h"

namespace tritonsmith {
namespace {

std::atomic<LogLevel> current_level = LogLevel::info;
std::atomic<bool> with_times = false;

}  // namespace

void set_log_level(LogLevel level) { current_level = level; }

void set_log_times(bool wanted) { with_times = wanted; }

void log_line(LogLevel level, const std::string& message) {
  if (level > current_level) return;
  const std::string time = with_times ? utc_time(unix_milliseconds()) + ' ' : "";
  const std::string line = time + message + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (watch_.seconds() > 1.0 || printed_at_ >= 0) print(true);
}

void Progress::advance_to(std::size_t done, const std::string& detail) {
  done_ = done;
  detail_ = detail;
  const double now = watch_.seconds();
  if (now < 1.0 || now - printed_at_ < (terminal_ ? 0.1 : 10.0)) return;
  printed_at_ = now;
  print(false);
}

void Progress::print(bool last) {
  if (current_level == LogLevel::quiet) return;
  const double seconds = watch_.seconds();
  const std::string left =
      last || done_ == 0
          ? fmt::format("{:.0f} s", seconds)
          : fmt::format("{:.0f} s, {:.0f} s left", seconds,
                        seconds / static_cast<double>(done_) * static_cast<double>(total_ - done_));
  const std::string line =
      fmt::format("{}{} {}/{} ({}){}{}{}", terminal_ ? "\r\x1b[K" : "", what_, done_, total_, left,
                  detail_.empty() ? "" : "  ", detail_, terminal_ && !last ? "" : "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tritonsmith
