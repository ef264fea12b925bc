// Reads JSON that comes from outside. parse_json reports a syntax error in one line with its
// position. JsonReader reads the members of an object with checked types; its first missing or
// wrong member becomes the error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"

namespace tritonsmith {

using Json = nlohmann::json;

// Refuses text that is not JSON, and text that is nested deeper than `max_depth`.
Result<Json> parse_json(std::string_view text, int max_depth = 64);

// Writes compact JSON in one line. Bytes that are not UTF-8 become U+FFFD, so that every record can
// be written.
std::string to_line(const Json& json);

// Usage:
//   JsonReader reader(json);
//   Finding f{.rule = reader.string("rule"), .line = reader.integer("line", 0)};
//   TRY(reader.status());
//   return f;
// A member read with a fallback may be absent or null. A member read without one is required. After
// the first error all readers return empty values.
class JsonReader {
 public:
  explicit JsonReader(const Json& json);

  std::string string(std::string_view name,
                     const std::optional<std::string>& fallback = std::nullopt);
  std::int64_t integer(std::string_view name, std::optional<std::int64_t> fallback = std::nullopt);
  double number(std::string_view name, std::optional<double> fallback = std::nullopt);
  bool boolean(std::string_view name, std::optional<bool> fallback = std::nullopt);
  std::vector<std::string> strings(std::string_view name);
  // An absent or null member gives an empty array or object.
  const Json& array(std::string_view name);
  const Json& object(std::string_view name);
  bool has(std::string_view name) const;

  template <NamedEnum E>
  E enumerated(std::string_view name, std::optional<E> fallback = std::nullopt) {
    if (fallback && !has(name)) return *fallback;
    auto value = enum_from_name<E>(string(name));
    if (value) return *value;
    refuse(name, value.error().message);
    return fallback.value_or(E{});
  }

  Status status() const;

 private:
  const Json* find(std::string_view name, bool required);
  void refuse(std::string_view name, std::string_view why);
  const Json& json_;
  std::optional<Error> error_;
};

}  // namespace tritonsmith
