#include "text/pre_tokenizer.h"

#include <algorithm>

namespace tritonsmith::text {
namespace {

// ByteLevel splits by this pattern by default. It is GPT-2's and is built into `tokenizers`.
constexpr std::string_view kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct Section {
  ByteRange range;
  bool matched = false;
};

// Cuts the text into the matches and the parts between them.
std::vector<Section> sections_of(std::string_view text, const SplitPattern& pattern, bool invert) {
  std::vector<Section> sections;
  std::size_t at = 0;
  for (const ByteRange match : pattern.find_all(text)) {
    if (at != match.begin) sections.push_back({{at, match.begin}, invert});
    sections.push_back({match, !invert});
    at = match.end;
  }
  if (at != text.size()) sections.push_back({{at, text.size()}, invert});
  return sections;
}

// Joins each match with the section before it in the order of iteration.
template <typename Join>
std::vector<Section> fold(std::vector<Section> sections, Join joins) {
  std::vector<Section> out;
  bool previous_matched = false;
  for (const Section& section : sections) {
    if (!out.empty() && joins(section.matched, previous_matched)) {
      out.back().range = {std::min(out.back().range.begin, section.range.begin),
                          std::max(out.back().range.end, section.range.end)};
    } else {
      out.push_back(section);
    }
    previous_matched = section.matched;
  }
  return out;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::from_json(const Json& json) {
  PreTokenizer made;
  made.json_ = json;
  if (!json.is_null()) TRY(made.add_step(json));
  return made;
}

Status PreTokenizer::add_step(const Json& json) {
  JsonReader reader(json);
  const std::string type = reader.string("type");
  TRY(reader.status());
  if (maps_bytes_) return fail("pre_tokenizer: '{}' after ByteLevel is not supported", type);
  if (type == "Sequence") {
    for (const Json& step : reader.array("pretokenizers")) TRY(add_step(step));
    return reader.status();
  }
  if (type == "Split") return add_split(json);
  if (type == "ByteLevel") return add_byte_level(json);
  if (type == "Digits") {
    const bool individual = reader.boolean("individual_digits", false);
    TRY(reader.status());
    TRY_ASSIGN(auto pattern, SplitPattern::from_regex(R"(\p{N})"));
    steps_.push_back({.pattern = {std::move(pattern)},
                      .behavior = individual ? Behavior::isolated : Behavior::contiguous});
    return ok();
  }
  return fail("pre_tokenizer: '{}' is not supported (Sequence, Split, Digits and ByteLevel are)",
              type);
}

Status PreTokenizer::add_split(const Json& json) {
  JsonReader reader(json);
  JsonReader pattern(reader.object("pattern"));
  const std::string behavior = reader.string("behavior");
  Step step{.invert = reader.boolean("invert", false)};
  TRY(reader.status());
  const auto known =
      std::ranges::find(kBehaviors, behavior, [](const auto& b) { return b.second; });
  if (known == std::end(kBehaviors))
    return fail("pre_tokenizer: behavior '{}' is unknown", behavior);
  step.behavior = known->first;
  const bool is_regex = pattern.has("Regex");
  const std::string text = pattern.string(is_regex ? "Regex" : "String");
  TRY_WITHIN("pre_tokenizer pattern", pattern.status());
  TRY_ASSIGN(auto compiled,
             is_regex ? SplitPattern::from_regex(text) : SplitPattern::from_literal(text));
  step.pattern.push_back(std::move(compiled));
  steps_.push_back(std::move(step));
  return ok();
}

Status PreTokenizer::add_byte_level(const Json& json) {
  JsonReader reader(json);
  Step step{.add_prefix_space = reader.boolean("add_prefix_space", true)};
  const bool use_regex = reader.boolean("use_regex", true);
  TRY(reader.status());
  if (use_regex) {
    TRY_ASSIGN(auto pattern, SplitPattern::from_regex(kByteLevelPattern));
    step.pattern.push_back(std::move(pattern));
  }
  steps_.push_back(std::move(step));
  maps_bytes_ = true;
  return ok();
}

Pieces PreTokenizer::cut(std::string_view text) const {
  Pieces pieces;
  if (!text.empty()) pieces.pieces.push_back(text);
  for (const Step& step : steps_) apply(step, pieces);
  return pieces;
}

void PreTokenizer::apply(const Step& step, Pieces& pieces) {
  if (step.add_prefix_space) {
    for (std::string_view& piece : pieces.pieces)
      if (!piece.starts_with(' ')) piece = pieces.owned.emplace_back(' ' + std::string(piece));
  }
  if (step.pattern.empty()) return;
  std::vector<std::string_view> out;
  for (const std::string_view piece : pieces.pieces) split(step, piece, out);
  pieces.pieces = std::move(out);
}

void PreTokenizer::split(const Step& step, std::string_view piece,
                         std::vector<std::string_view>& out) {
  std::vector<Section> sections = sections_of(piece, step.pattern.front(), step.invert);
  const auto match_after_text = [](bool matched, bool before) { return matched && !before; };
  switch (step.behavior) {
    case Behavior::isolated:
      break;
    case Behavior::removed:
      std::erase_if(sections, [](const Section& s) { return s.matched; });
      break;
    case Behavior::contiguous:
      sections =
          fold(std::move(sections), [](bool matched, bool before) { return matched == before; });
      break;
    case Behavior::merged_with_previous:
      sections = fold(std::move(sections), match_after_text);
      break;
    case Behavior::merged_with_next:
      std::ranges::reverse(sections);
      sections = fold(std::move(sections), match_after_text);
      std::ranges::reverse(sections);
      break;
  }
  for (const Section& section : sections)
    out.push_back(piece.substr(section.range.begin, section.range.end - section.range.begin));
}

}  // namespace tritonsmith::text
