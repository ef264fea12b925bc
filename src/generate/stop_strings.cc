#include "generate/stop_strings.h"

#include <algorithm>

namespace tritonsmith::generate {

StopStringSearch::StopStringSearch(std::vector<std::string> strings)
    : strings_(std::move(strings)) {
  for (const std::string& each : strings_) longest_ = std::max(longest_, each.size());
}

bool StopStringSearch::push(std::string_view piece) {
  if (is_found_ || longest_ == 0) return is_found_;
  text_ += piece;
  is_found_ = before_any_of(text_, strings_).size() < text_.size();
  if (text_.size() > longest_) text_.erase(0, text_.size() - longest_);
  return is_found_;
}

std::string_view before_any_of(std::string_view text, std::span<const std::string> strings) {
  std::size_t end = text.size();
  for (const std::string& each : strings)
    if (!each.empty()) end = std::min(end, text.find(each));
  return text.substr(0, end);
}

}  // namespace tritonsmith::generate
