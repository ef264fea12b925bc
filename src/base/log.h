// Writes log lines and progress lines. They go to stderr, because stdout carries results. Any
// thread may call these functions.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/clock.h"

namespace tritonsmith {

enum class LogLevel { quiet, info, debug };

void set_log_level(LogLevel level);
// Puts the time of day (UTC) before each line, for programs that run for long.
void set_log_times(bool wanted);
void log_line(LogLevel level, const std::string& message);

// A progress line for work that takes longer than a second. On a terminal the line is rewritten at
// most ten times a second. In a file a new line is added at most every ten seconds. The destructor
// prints the last line.
class Progress {
 public:
  // `done_before` is the part of the total that an earlier process did. It took no time of this
  // one.
  Progress(std::string what, std::size_t total, std::size_t done_before = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `detail` follows the count, for example "loss 1.23".
  void advance_to(std::size_t done, const std::string& detail = {});
  // Sets the number of items that were done before this process began.
  void count_from(std::size_t done) { done_ = done_before_ = done; }

 private:
  void print(bool last);
  std::string what_;
  std::size_t total_, done_before_;
  std::size_t done_;
  std::string detail_;
  Stopwatch watch_;
  double printed_at_ = -1e9;
  bool terminal_;
};

// Estimates the seconds that the rest of `total` takes. This process did `done` - `done_before` of
// it in `seconds`. Returns nothing if it has done nothing yet.
std::optional<double> seconds_left(double seconds, std::size_t done_before, std::size_t done,
                                   std::size_t total);

}  // namespace tritonsmith

// LibTorch's headers define another LOG. This one replaces it.
#undef LOG
#define LOG(...) ::tritonsmith::log_line(::tritonsmith::LogLevel::info, ::fmt::format(__VA_ARGS__))
#define TRACE(...) \
  ::tritonsmith::log_line(::tritonsmith::LogLevel::debug, ::fmt::format(__VA_ARGS__))
