#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <utility>

#include "base/printable.h"
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
  const std::string line = time + printable(message) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::optional<double> seconds_left(double seconds, std::size_t done_before, std::size_t done,
                                   std::size_t total) {
  if (done <= done_before || done > total) return std::nullopt;
  return seconds / static_cast<double>(done - done_before) * static_cast<double>(total - done);
}

Progress::Progress(std::string what, std::size_t total, std::size_t done_before)
    : what_(std::move(what)),
      total_(total),
      done_before_(done_before),
      done_(done_before),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

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
  const auto rest = seconds_left(seconds, done_before_, done_, total_);
  const std::string left = last || !rest ? fmt::format("{:.0f} s", seconds)
                                         : fmt::format("{:.0f} s, {:.0f} s left", seconds, *rest);
  const std::string line = fmt::format(
      "{}{} {}/{} ({}){}{}{}", terminal_ ? "\r\x1b[K" : "", printable(what_), done_, total_, left,
      detail_.empty() ? "" : "  ", printable(detail_), terminal_ && !last ? "" : "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tritonsmith
