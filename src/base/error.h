// Error and Result: failures of the world (files, sockets, child processes, GPUs, foreign bytes).
// Each function that passes an Error on may put one line of context in front of it. A bad kernel is
// not an Error but a Verdict. A mistake of ours is not an Error but a failed CHECK.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tritonsmith {

// ErrorKind says who must act on an Error. A program's exit code shows it (cli/call/exit_code.h).
enum class ErrorKind {
  input,  // the call, its config, a task or a file: another call may succeed
  fault,  // a right call had no result: a process died, a service is away, the run was stopped
};

// One sentence for the person who must act on it: it names the file or setting and says what to do.
struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::input;

  // Returns the error with the message "context: message".
  [[nodiscard]] Error within(std::string_view context) const {
    return Error{fmt::format("{}: {}", context, message), kind};
  }
  // Returns the same error as a fault.
  [[nodiscard]] Error as_fault() const { return Error{message, ErrorKind::fault}; }
  bool operator==(const Error&) const = default;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

// A Result without a value. A function reports success by `return ok();` or `return {};`.
using Status = Result<void>;
inline Status ok() { return {}; }

// `return fail("{}: not a directory", path);`
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

// Returns a fault: the call was right, and yet it has no result.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail_by_fault(fmt::format_string<Args...> format,
                                                  Args&&... args) {
  return tl::unexpected<Error>(
      Error{fmt::format(format, std::forward<Args>(args)...), ErrorKind::fault});
}

// Returns the error of the last system call: "WHAT: No such file or directory".
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string_view what);

}  // namespace tritonsmith

#define TRITONSMITH_CONCAT_(a, b) a##b
#define TRITONSMITH_CONCAT(a, b) TRITONSMITH_CONCAT_(a, b)

// TRY(expression) returns the error to the caller. Without an error the code goes on, and a value
// is dropped.
#define TRY(...)                                                                     \
  do {                                                                               \
    auto&& try_result_ = (__VA_ARGS__);                                              \
    if (!try_result_) [[unlikely]]                                                   \
      return ::tl::unexpected<::tritonsmith::Error>(std::move(try_result_).error()); \
  } while (false)

// TRY_ASSIGN(auto x, expression) returns the error to the caller, or assigns the value to x. It
// expands to several statements, so it needs braces after `if`.
#define TRY_ASSIGN(target, ...) \
  TRITONSMITH_TRY_ASSIGN_(TRITONSMITH_CONCAT(try_result_, __LINE__), target, __VA_ARGS__)
#define TRITONSMITH_TRY_ASSIGN_(name, target, ...)                          \
  auto name = (__VA_ARGS__);                                                \
  if (!name) [[unlikely]]                                                   \
    return ::tl::unexpected<::tritonsmith::Error>(std::move(name).error()); \
  target = *std::move(name)

// Works like TRY and puts one line of context in front of the error.
#define TRY_WITHIN(context, ...)                                                          \
  do {                                                                                    \
    auto&& try_result_ = (__VA_ARGS__);                                                   \
    if (!try_result_) [[unlikely]]                                                        \
      return ::tl::unexpected<::tritonsmith::Error>(try_result_.error().within(context)); \
  } while (false)
