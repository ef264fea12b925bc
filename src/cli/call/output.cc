#include "cli/call/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/printable.h"

namespace tritonsmith::cli {
namespace {

void write_now(std::string_view text, FILE* file) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);  // a command may run for minutes before it prints again
}

}  // namespace

void show_text(std::string_view text) { write_now(printable(text), stdout); }

void hand_over(std::string_view source) {
  if (::isatty(STDOUT_FILENO) == 1)
    show_text(source);
  else
    write_now(source, stdout);
}

void complain(std::string_view message) {
  std::string line = printable(message);
  std::ranges::replace(line, '\n', ' ');
  write_now(fmt::format("tritonsmith: {}\n", line), stderr);
}

}  // namespace tritonsmith::cli
