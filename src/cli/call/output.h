// Prints the output of commands. Names of tasks, messages of candidates and completions are foreign
// text. A control character in them must not reach the terminal. So nothing in cli/ prints by
// itself (tests/layers_test.py).
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"

namespace tritonsmith::cli {

// To stdout, at once, with control characters escaped (base/printable.h). JSON stays JSON.
void show_text(std::string_view text);

template <typename... Args>
void show(fmt::format_string<Args...> format, Args&&... args) {
  show_text(fmt::format(format, std::forward<Args>(args)...));
}

// Source code to stdout: the bytes as they are, for a file or another program. On a terminal as by
// show_text.
void hand_over(std::string_view source);

// "tritonsmith: MESSAGE" to stderr, on one line.
void complain(std::string_view message);

// False once a text could not be written to standard output, for example because the disk is full.
bool output_is_whole();

}  // namespace tritonsmith::cli
