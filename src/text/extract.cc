#include "text/extract.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "text/code_fence.h"

namespace tritonsmith::text {
namespace {

constexpr std::size_t kNotFound = std::string_view::npos;
constexpr std::string_view kAnswer = "<answer>", kAnswerEnd = "</answer>";

struct Tags {
  std::string_view open, close;
};
constexpr auto kThinking =
    std::to_array<Tags>({{"<thinking>", "</thinking>"}, {"<think>", "</think>"}});

bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isspace(c) != 0; });
}

// Removes blank lines at the front and white space at the end. The first line stays indented.
Span trimmed(std::string_view text, Span span) {
  while (span.end > span.begin && std::isspace(static_cast<unsigned char>(text[span.end - 1])) != 0)
    --span.end;
  for (std::size_t at = span.begin; at < span.end; ++at) {
    if (text[at] == '\n') span.begin = at + 1;
    if (std::isspace(static_cast<unsigned char>(text[at])) == 0) break;
  }
  return span;
}

class Extraction {
 public:
  Extraction(std::string_view text, Kernel& kernel) : text_(text), kernel_(kernel) {}

  void run() {
    const std::size_t after_thinking = find_thinking();
    if (const auto answer = find_answer(after_thinking)) find_code(*answer);
    if (kernel_.source.empty()) kernel_.code_bytes = {};
  }

 private:
  struct Answer {
    Span body;
    bool tagged = false;
    bool closed = false;
  };

  void find(std::string rule, Severity severity, std::string message) {
    kernel_.findings.push_back({std::move(rule), severity, 0, std::move(message)});
  }

  // Sets the thinking. Returns the begin of the remaining text.
  std::size_t find_thinking() {
    std::size_t open = kNotFound, close = kNotFound;
    Tags tags;
    for (const Tags& each : kThinking) {
      const std::size_t at = std::min(text_.find(each.open), text_.find(each.close));
      if (at >= std::min(open, close)) continue;
      tags = each;
      open = text_.find(each.open);
      close = text_.find(each.close);
    }
    const std::size_t answer = text_.find(kAnswer);
    if (std::min(open, close) == kNotFound || std::min(open, close) > answer) return 0;
    const std::size_t begin = open < close ? open + tags.open.size() : 0;
    if (close != kNotFound) {
      kernel_.thinking_bytes = {begin, close};
      return close + tags.close.size();
    }
    find("unclosed_thinking", Severity::warn, "the thinking block is not closed");
    kernel_.thinking_bytes = {begin, std::min(answer, text_.size())};
    return kernel_.thinking_bytes.end;
  }

  std::optional<Answer> find_answer(std::size_t from) {
    const std::size_t open = text_.find(kAnswer, from);
    if (open == kNotFound) {
      find("no_answer", Severity::note, "there is no <answer> block after the thinking");
      return Answer{.body = {from, text_.size()}};
    }
    const std::size_t begin = open + kAnswer.size();
    const std::size_t close = text_.find(kAnswerEnd, begin);
    if (text_.find(kAnswer, begin) != kNotFound) {
      find("several_answers", Severity::reject, "there are several <answer> blocks");
      return std::nullopt;
    }
    if (close == kNotFound) {
      find("unclosed_answer", Severity::warn, "the <answer> block is not closed");
      return Answer{.body = {begin, text_.size()}, .tagged = true};
    }
    if (!is_blank(text_.substr(close + kAnswerEnd.size())))
      find("text_after_answer", Severity::note, "text follows </answer>");
    return Answer{.body = {begin, close}, .tagged = true, .closed = true};
  }

  void find_code(const Answer& answer) {
    const std::vector<CodeFence> fences = find_fences(text_, answer.body);
    const auto code_fences = std::ranges::count_if(fences, &CodeFence::is_python);
    if (code_fences > 1)
      return find("several_code_blocks", Severity::reject, "there are several code blocks");
    if (code_fences == 1)
      return take_fence(answer, *std::ranges::find_if(fences, &CodeFence::is_python));
    if (!answer.tagged || !fences.empty())
      return find("no_code", Severity::reject, "there is no code block");
    take(trimmed(text_, answer.body));
  }

  void take_fence(const Answer& answer, const CodeFence& fence) {
    if (!fence.closed) {
      find("unclosed_fence", answer.closed ? Severity::warn : Severity::reject,
           "the code fence is not closed");
      if (!answer.closed) return;
    }
    const bool alone =
        is_blank(text_.substr(answer.body.begin, fence.whole.begin - answer.body.begin)) &&
        is_blank(text_.substr(fence.whole.end, answer.body.end - fence.whole.end));
    if (answer.tagged && !alone)
      find("text_around_code", Severity::note, "the answer holds text beside its code");
    take(fence.inside);
  }

  void take(Span code) {
    const std::string_view source = text_.substr(code.begin, code.end - code.begin);
    if (is_blank(source)) return find("empty_code", Severity::reject, "the code block is empty");
    kernel_.code_bytes = code;
    kernel_.source = source;
  }

  std::string_view text_;
  Kernel& kernel_;
};

}  // namespace

Span tokens_of_bytes(Span bytes, std::span<const std::size_t> token_ends) {
  if (bytes.empty()) return {};
  const auto index = [&](auto at) { return static_cast<std::size_t>(at - token_ends.begin()); };
  const std::size_t first = index(std::ranges::upper_bound(token_ends, bytes.begin));
  const std::size_t last = index(std::ranges::lower_bound(token_ends, bytes.end));
  return {first, std::min(last + 1, token_ends.size())};
}

Kernel extract_kernel(std::string_view text, std::span<const std::size_t> token_ends) {
  Kernel kernel;
  Extraction(text, kernel).run();
  kernel.thinking_tokens = tokens_of_bytes(kernel.thinking_bytes, token_ends);
  kernel.code_tokens = tokens_of_bytes(kernel.code_bytes, token_ends);
  return kernel;
}

}  // namespace tritonsmith::text
