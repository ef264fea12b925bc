// Gives the values of closed sets their names. A specialisation of enum_names<E> lists each value
// with its name in records, configs and on the command line. name_of and enum_from_name convert in
// both directions.
//
//   enum class Severity { note, warn, reject };
//   template <> inline constexpr auto enum_names<Severity> =
//       names<Severity>({{Severity::note, "note"},
//                        {Severity::warn, "warn"},
//                        {Severity::reject, "reject"}});
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace tritonsmith {

template <typename E, std::size_t n>
constexpr std::array<std::pair<E, std::string_view>, n> names(
    const std::pair<E, std::string_view> (&list)[n]) {
  return std::to_array(list);
}

template <typename E>
inline constexpr int enum_names = 0;  // each enum specialises it

template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires {
  enum_names<E>.size();
};

template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const auto& [known, name] : enum_names<E>)
    if (known == value) return name;
  check_failed(__FILE__, __LINE__, "name_of", "an enum value without a name");
}

// Lists all names for a message: "a, b or c".
template <NamedEnum E>
std::string all_names() {
  std::string list;
  for (std::size_t i = 0; i < enum_names<E>.size(); ++i) {
    if (i > 0) list += i + 1 == enum_names<E>.size() ? " or " : ", ";
    list += enum_names<E>[i].second;
  }
  return list;
}

template <NamedEnum E>
Result<E> enum_from_name(std::string_view wanted) {
  for (const auto& [value, name] : enum_names<E>)
    if (name == wanted) return value;
  return fail("'{}' is none of {}", wanted, all_names<E>());
}

}  // namespace tritonsmith
