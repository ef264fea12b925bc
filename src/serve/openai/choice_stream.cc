#include "serve/openai/choice_stream.h"

#include <algorithm>

namespace tritonsmith::serve::openai {

StreamPart ChoiceStream::push(std::string_view piece, std::span<const TokenText> tokens) {
  StreamPart part{.text = cutter_.push(piece), .offset = begin_};
  shown_ += part.text.size();
  held_.insert(held_.end(), tokens.begin(), tokens.end());
  // A token without text belongs to a character that a later token completes.
  std::size_t count = 0, end = begin_;
  for (std::size_t i = 0; i < held_.size() && end + held_[i].text.size() <= shown_; ++i) {
    end += held_[i].text.size();
    if (held_[i].text.empty()) continue;
    count = i + 1;
    begin_ = end;
  }
  const auto rest = held_.begin() + static_cast<std::ptrdiff_t>(count);
  part.tokens.assign(held_.begin(), rest);
  held_.erase(held_.begin(), rest);
  given_ += count;
  return part;
}

StreamPart ChoiceStream::finish(std::string_view piece, std::span<const TokenText> all) {
  StreamPart part{.text = cutter_.push(piece), .offset = begin_};
  part.text += cutter_.finish();
  const auto rest = all.subspan(std::min(given_, all.size()));
  part.tokens.assign(rest.begin(), rest.end());
  return part;
}

}  // namespace tritonsmith::serve::openai
