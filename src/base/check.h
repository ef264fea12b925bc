// CHECK: for our own mistakes only. A failed check prints where and why, and aborts; it is never
// used for bad input, a bad kernel or a failing machine (those are Result and Verdict).
#pragma once

#include <fmt/format.h>

#include <string>

namespace tritonsmith {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

}  // namespace tritonsmith

// LibTorch's headers define a CHECK of their own (c10/util/Logging.h); ours takes its place.
#undef CHECK
// CHECK(x > 0, "x is {}", x) aborts with file, line, condition and message unless the condition
// holds.
#define CHECK(condition, ...)                                                                  \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::tritonsmith::check_failed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
