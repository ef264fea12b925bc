// Members: reads the members of a request's body, each with its type and its range. The first one that
// is wrong becomes the refusal of the whole request. One function owns it while it parses a body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "serve/openai/call.h"

namespace tritonsmith::serve::openai {

using Refusal = tl::unexpected<CallError>;

// A refusal with the status 400, for the member at fault.
template <typename... Args>
Refusal refuse(std::string_view parameter, fmt::format_string<Args...> format, Args&&... args) {
  return Refusal(CallError{.message = fmt::format(format, std::forward<Args>(args)...),
                           .parameter = std::string(parameter)});
}

class Members {
 public:
  explicit Members(const Json& body) : body_(body) {}

  const Json& get(const char* name) const {
    static const Json none;
    const auto at = body_.find(name);
    return at == body_.end() ? none : *at;
  }
  bool has(const char* name) const { return !get(name).is_null(); }

  double number(const char* name, double fallback, double low, double high) {
    const Json& value = get(name);
    if (value.is_null()) return fallback;
    const double number = value.is_number() ? value.get<double>() : low - 1;
    if (number >= low && number <= high) return number;
    note(refuse(name, "'{}' must be a number between {} and {}", name, low, high));
    return fallback;
  }
  std::int64_t integer(const char* name, std::int64_t fallback, std::int64_t low,
                       std::int64_t high) {
    const Json& value = get(name);
    if (value.is_null()) return fallback;
    if (value.is_number_integer() && value.get<std::int64_t>() >= low &&
        value.get<std::int64_t>() <= high)
      return value.get<std::int64_t>();
    note(refuse(name, "'{}' must be a whole number between {} and {}", name, low, high));
    return fallback;
  }
  bool boolean(const char* name) {
    const Json& value = get(name);
    if (!value.is_null() && !value.is_boolean())
      note(refuse(name, "'{}' must be true or false", name));
    return value.is_boolean() && value.get<bool>();
  }
  std::string string(const char* name) {
    const Json& value = get(name);
    if (!value.is_string()) note(refuse(name, "'{}' must be a string", name));
    return value.is_string() ? value.get<std::string>() : "";
  }
  void note(Refusal refusal) {
    if (!error_) error_ = std::move(refusal).value();
  }
  const std::optional<CallError>& error() const { return error_; }

 private:
  const Json& body_;
  std::optional<CallError> error_;
};

}  // namespace tritonsmith::serve::openai
