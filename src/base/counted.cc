#include "base/counted.h"

#include <fmt/format.h>

namespace tritonsmith {

std::string noun_for(std::int64_t count, std::string_view noun) {
  if (count == 1) return std::string(noun);
  if (noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with('s') || noun.ends_with('x'))
    return fmt::format("{}es", noun);
  constexpr std::string_view vowels = "aeiou";
  const bool changes_y = noun.size() > 1 && noun.back() == 'y' &&
                         vowels.find(noun[noun.size() - 2]) == std::string_view::npos;
  if (changes_y) return fmt::format("{}ies", noun.substr(0, noun.size() - 1));
  return fmt::format("{}s", noun);
}

std::string counted(std::int64_t count, std::string_view noun) {
  std::string digits = std::to_string(count);
  const std::ptrdiff_t first = count < 0 ? 1 : 0;  // behind the sign
  for (auto at = std::ssize(digits) - 3; at > first; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return fmt::format("{} {}", digits, noun_for(count, noun));
}

std::string_view are_for(std::int64_t count) { return count == 1 ? "is" : "are"; }

std::string_view were_for(std::int64_t count) { return count == 1 ? "was" : "were"; }

std::string counted_are(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", counted(count, noun), are_for(count));
}

std::string counted_were(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", counted(count, noun), were_for(count));
}

std::string counted_or_no(std::int64_t count, std::string_view noun) {
  return count == 0 ? fmt::format("no {}", noun_for(count, noun)) : counted(count, noun);
}

}  // namespace tritonsmith
