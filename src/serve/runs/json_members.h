// Finds the members of a JSON object in its text, without making values of them. Records are long,
// and a reader who lists them needs a few short members of each: skipping the rest takes a tenth of
// the time of parsing it. These functions do not check the text of a value. A caller that needs the
// value parses its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tritonsmith::serve::runs {

class JsonMembers {
 public:
  // Returns nothing if the text is no object. The views refer to the text.
  static std::optional<JsonMembers> of(std::string_view text);

  // Returns the text of a member's value, which is empty without such a member. Of equal names the
  // last one counts. A name is compared as it is written, with its escapes.
  std::string_view get(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, std::string_view>> members_;
};

// Returns how many elements the text of an array has, or nothing if it is no array.
std::optional<std::int64_t> count_elements(std::string_view text);

}  // namespace tritonsmith::serve::runs
