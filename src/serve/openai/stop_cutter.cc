#include "serve/openai/stop_cutter.h"

#include <algorithm>
#include <utility>

namespace tritonsmith::serve::openai {
namespace {

// The length of the longest end of the text with which the string begins.
std::size_t begun(std::string_view text, std::string_view string) {
  for (std::size_t length = std::min(text.size(), string.size()); length > 0; --length)
    if (text.ends_with(string.substr(0, length))) return length;
  return 0;
}

}  // namespace

std::string StopCutter::push(std::string_view piece) {
  if (is_over_) return {};
  held_ += piece;
  std::size_t end = held_.size(), kept = 0;
  for (const std::string& each : strings_) {
    end = std::min(end, held_.find(each));
    kept = std::max(kept, begun(held_, each));
  }
  is_over_ = end < held_.size();
  std::string shown = held_.substr(0, is_over_ ? end : held_.size() - kept);
  held_ = is_over_ ? "" : held_.substr(held_.size() - kept);
  return shown;
}

std::string StopCutter::finish() { return is_over_ ? std::string() : std::exchange(held_, {}); }

}  // namespace tritonsmith::serve::openai
