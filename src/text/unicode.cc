#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "base/check.h"

namespace tritonsmith::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Range {
  char32_t first, last;
};

// Characters after Unicode 9 whose normalisation is not trivial. They were found by comparing
// utf8proc with `tokenizers` over all code points. The text between them is normalised. That is
// exact, since Unicode 9 takes these characters for unassigned starters. U+11A7 never composes. It
// is in the list because utf8proc drops it after a Hangul syllable.
constexpr auto kNotForUtf8proc = std::to_array<Range>(
    {{0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
     {0xC3C, 0xC3C},     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x11A7, 0x11A7},
     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},
     {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50},
     {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E},
     {0x11839, 0x1183A}, {0x11930, 0x11930}, {0x11935, 0x11935}, {0x11938, 0x11938},
     {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34},
     {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45},
     {0x11D97, 0x11D97}, {0x11F41, 0x11F42}, {0x16FF0, 0x16FF1}, {0x1E08F, 0x1E08F},
     {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF}});

bool not_for_utf8proc(char32_t code_point) {
  const auto after = std::ranges::upper_bound(kNotForUtf8proc, code_point, {}, &Range::first);
  return after != kNotForUtf8proc.begin() && code_point <= std::prev(after)->last;
}

void append_nfc(std::string& out, std::string_view segment) {
  if (segment.empty()) return;
  utf8proc_uint8_t* normal = nullptr;
  const auto flags = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(segment.data()),
                                   static_cast<utf8proc_ssize_t>(segment.size()), &normal, flags);
  CHECK(length >= 0, "utf8proc: {}", utf8proc_errmsg(length));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(normal, &std::free);
  out.append(reinterpret_cast<const char*>(normal), static_cast<std::size_t>(length));
}

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// The number of a character's bytes and its allowed second bytes, by its first byte (Unicode table
// 3-7).
struct Lead {
  std::size_t bytes = 0;
  std::uint8_t low = 0x80, high = 0xBF;
};
Lead lead_of(std::uint8_t first) {
  if (first < 0x80) return {1};
  if (first < 0xC2) return {0};
  if (first < 0xE0) return {2};
  if (first == 0xE0) return {3, 0xA0};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3};
  if (first == 0xF0) return {4, 0x90};
  if (first < 0xF4) return {4};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Step utf8_step(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  const Lead lead = lead_of(first);
  if (lead.bytes == 1) return {1, true, false, first};
  if (lead.bytes == 0) return {.bytes = 1};
  char32_t code_point = first & (0xFFU >> (lead.bytes + 1));
  for (std::size_t i = 1; i < lead.bytes; ++i) {
    if (i == text.size()) return {.bytes = i, .cut_short = true};
    const std::uint8_t next = byte_at(text, i);
    const bool fits = i == 1 ? next >= lead.low && next <= lead.high : (next & 0xC0) == 0x80;
    if (!fits) return {.bytes = i};
    code_point = (code_point << 6) | (next & 0x3FU);
  }
  return {lead.bytes, true, false, code_point};
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = utf8_step(text);
    out += step.valid ? text.substr(0, step.bytes) : kReplacement;
    text.remove_prefix(step.bytes);
  }
  return out;
}

std::string utf8_of(char32_t code_point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes.data());
  return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length)};
}

std::string to_nfc(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<std::uint8_t>(c) < 0x80; }))
    return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::size_t segment = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text.substr(at));
    if (not_for_utf8proc(step.code_point)) {
      append_nfc(out, text.substr(segment, at - segment));
      out += text.substr(at, step.bytes);
      segment = at + step.bytes;
    }
    at += step.bytes;
  }
  append_nfc(out, text.substr(segment));
  return out;
}

}  // namespace tritonsmith::text
