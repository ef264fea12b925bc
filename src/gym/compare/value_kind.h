// Names the kinds of values of a plan, for messages about outputs of another structure.
#pragma once

#include <array>
#include <string_view>
#include <variant>

#include "gym/plan/value.h"

namespace tritonsmith::gym::compare {

inline std::string_view kind_of(const plan::Value& value) {
  constexpr auto kKinds = std::to_array<std::string_view>(
      {"None", "a tensor", "an int", "a float", "a bool", "a str", "a list", "a tuple", "a dict",
       "a torch.dtype", "a torch.device", "a torch.layout", "a torch.memory_format",
       "a complex number"});
  static_assert(kKinds.size() == std::variant_size_v<decltype(plan::Value::data)>);
  return kKinds.at(value.data.index());
}

}  // namespace tritonsmith::gym::compare
