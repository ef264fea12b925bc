// Log lines and progress lines, on stderr: stdout belongs to results. Safe from any thread.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/clock.h"

namespace tritonsmith {

enum class LogLevel { quiet, info, debug };

void set_log_level(LogLevel level);
void log_line(LogLevel level, const std::string& message);

// A line that says how far something longer than a second has come. On a terminal it rewrites
// itself at most ten times a second; in a file it adds a line at most every ten seconds. The
// destructor ends it with a last line.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `detail` is shown behind the count: "loss 1.23".
  void advance_to(std::size_t done, const std::string& detail = {});

 private:
  void print(bool last);
  std::string what_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::string detail_;
  Stopwatch watch_;
  double printed_at_ = -1e9;
  bool terminal_;
};

}  // namespace tritonsmith

// LibTorch's headers define a LOG of their own; ours takes its place.
#undef LOG
#define LOG(...) ::tritonsmith::log_line(::tritonsmith::LogLevel::info, ::fmt::format(__VA_ARGS__))
#define TRACE(...) \
  ::tritonsmith::log_line(::tritonsmith::LogLevel::debug, ::fmt::format(__VA_ARGS__))
