#include "cli/call/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include "base/printable.h"

namespace tritonsmith::cli {
namespace {

bool is_whole = true;  // of standard output

void write_now(std::string_view text, FILE* file) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  // Every text is flushed, because a command may run for minutes before it prints again.
  const bool is_flushed = std::fflush(file) == 0;
  // A reader that has left, as `head` does, has what it wanted.
  if (file == stdout && !(is_written && is_flushed) && errno != EPIPE) is_whole = false;
}

}  // namespace

void show_text(std::string_view text) { write_now(printable(text), stdout); }

void hand_over(std::string_view source) {
  if (::isatty(STDOUT_FILENO) == 1)
    show_text(source);
  else
    write_now(source, stdout);
}

bool output_is_whole() { return is_whole; }

void complain(std::string_view message) {
  std::string line = printable(message);
  std::ranges::replace(line, '\n', ' ');
  write_now(fmt::format("tritonsmith: {}\n", line), stderr);
}

}  // namespace tritonsmith::cli
