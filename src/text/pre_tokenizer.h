// PreTokenizer: cuts text into the pieces for BPE, as the "pre_tokenizer" of a tokenizer.json says.
// It supports any sequence of Split and Digits that ends in ByteLevel. It is immutable, so any
// thread may use it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/split_pattern.h"

namespace tritonsmith::text {

// Pieces in order. They point into the cut text, or into `owned` if a step put a space in front.
struct Pieces {
  std::vector<std::string_view> pieces;
  std::deque<std::string> owned;
};

class PreTokenizer {
 public:
  // Fails for steps that are not supported. Null is allowed; the normalizer must then be ByteLevel.
  static Result<PreTokenizer> from_json(const Json& json);

  // `text` is valid UTF-8 and must outlive the pieces.
  Pieces cut(std::string_view text) const;
  const Json& json() const { return json_; }
  // Tells whether a ByteLevel step maps bytes to the alphabet.
  bool maps_bytes() const { return maps_bytes_; }

 private:
  enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
  struct Step {
    std::vector<SplitPattern> pattern;  // none, or one to split by
    Behavior behavior = Behavior::isolated;
    bool invert = false;
    bool add_prefix_space = false;
  };
  static constexpr std::pair<Behavior, std::string_view> kBehaviors[] = {
      {Behavior::removed, "Removed"},
      {Behavior::isolated, "Isolated"},
      {Behavior::merged_with_previous, "MergedWithPrevious"},
      {Behavior::merged_with_next, "MergedWithNext"},
      {Behavior::contiguous, "Contiguous"}};

  Status add_step(const Json& json);
  Status add_split(const Json& json);
  Status add_byte_level(const Json& json);
  static void apply(const Step& step, Pieces& pieces);
  static void split(const Step& step, std::string_view piece, std::vector<std::string_view>& out);

  Json json_;
  std::vector<Step> steps_;
  bool maps_bytes_ = false;
};

}  // namespace tritonsmith::text
