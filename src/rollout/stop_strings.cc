#include "rollout/stop_strings.h"

#include <algorithm>
#include <memory>

#include "text/stream_decoder.h"

namespace tritonsmith::rollout {
namespace {

class Search {
 public:
  Search(std::vector<std::string> strings, const text::Tokenizer& tokenizer)
      : strings_(std::move(strings)), decoder_(tokenizer) {
    for (const std::string& each : strings_) longest_ = std::max(longest_, each.size());
  }

  bool is_found_in(std::span<const TokenId> tokens) {
    for (; seen_ < tokens.size() && !is_found_; ++seen_) {
      text_ += decoder_.push(tokens[seen_]);
      is_found_ = before_any_of(text_, strings_).size() < text_.size();
      // What cannot be the beginning of one any more.
      if (text_.size() > longest_) text_.erase(0, text_.size() - longest_);
    }
    return is_found_;
  }

 private:
  std::vector<std::string> strings_;
  text::StreamDecoder decoder_;
  std::string text_;
  std::size_t longest_ = 0, seen_ = 0;
  bool is_found_ = false;
};

}  // namespace

std::function<bool(std::span<const TokenId>)> holds_any_of(std::vector<std::string> strings,
                                                           const text::Tokenizer& tokenizer) {
  std::erase(strings, "");
  if (strings.empty()) return nullptr;
  const auto search = std::make_shared<Search>(std::move(strings), tokenizer);
  return [search](std::span<const TokenId> tokens) { return search->is_found_in(tokens); };
}

std::string_view before_any_of(std::string_view text, std::span<const std::string> strings) {
  std::size_t end = text.size();
  for (const std::string& each : strings)
    if (!each.empty()) end = std::min(end, text.find(each));
  return text.substr(0, end);
}

}  // namespace tritonsmith::rollout
