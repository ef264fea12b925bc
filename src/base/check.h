// CHECK: an assertion for our own mistakes. A failed check prints its location and its message, and
// aborts. It is never used for bad input, a bad kernel or a failing machine: those are Result and
// Verdict.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tritonsmith {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

}  // namespace tritonsmith

// LibTorch's headers define another CHECK (c10/util/Logging.h). This one replaces it.
#undef CHECK
// CHECK(x > 0, "x is {}", x) aborts unless the condition holds. It prints the file, the line, the
// condition and the message.
#define CHECK(condition, ...)                                                                  \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::tritonsmith::check_failed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
