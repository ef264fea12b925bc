// Finds strings that end a completion, although no single token stands for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::generate {

// Looks for the strings in a text that comes in pieces.
class StopStringSearch {
 public:
  explicit StopStringSearch(std::vector<std::string> strings);

  // True once the text so far holds one of the strings, however it was cut into pieces.
  bool push(std::string_view piece);

 private:
  std::vector<std::string> strings_;
  std::string text_;  // the end of what was seen: no more than can be the beginning of a string
  std::size_t longest_ = 0;
  bool is_found_ = false;
};

// The text before the first of the strings; all of it where there is none.
std::string_view before_any_of(std::string_view text, std::span<const std::string> strings);

}  // namespace tritonsmith::generate
