#include "search/ptx_messages.h"

#include <algorithm>
#include <charconv>

#include "search/ptx_edits.h"
#include "text/feedback.h"

namespace tritonsmith::search {
namespace {

constexpr std::size_t kName = 60, kLine = 200, kNote = 400;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The verdict in words, with the machine instructions that the judge counted. A line of the
// candidate's Python would be taken for one of the PTX, so it is left out.
std::string figures_of(Verdict verdict) {
  if (verdict.error) verdict.error->line = 0;
  std::string figures = text::verdict_text(verdict);
  for (const Finding& finding : verdict.findings)
    if (finding.rule == "edited_ptx") figures += text::one_line(finding.message, kNote) + "\n";
  return figures;
}

std::string last_edit(const Ask& ask, const History& history) {
  if (ask.other == kNone) return "";
  const Attempt& last = *history.attempt(ask.other);
  if (last.ptx.empty()) return "\nThe last answer held no PTX. " + figures_of(last.verdict);
  const std::string& name = last.ask.edited;
  const std::string after = ptx_of(history, ask.other, name);
  const std::string changed = changed_lines(ptx_of(history, last.ask.parent, name), after);
  std::string words = fmt::format(
      "\nThe last edit{} was no better, and is not in the text below. It put these lines into an "
      "earlier text:\n```\n{}```\n{}",
      name == ask.edited ? "" : " was of " + text::one_line(name, kName) + ". It",
      changed.empty() ? "(none: the text was the same)\n" : changed, figures_of(last.verdict));
  if (last.verdict.error) words += named_lines(last.verdict.error->message, after);
  return words;
}

}  // namespace

std::vector<text::Message> edit_messages(const Ask& ask, const History& history,
                                         const Prompting& prompting) {
  const Attempt& parent = *history.attempt(ask.parent);
  std::vector<text::Message> messages = prompting.prompt;
  messages.push_back({text::Role::assistant, answer_with(parent.kernel)});
  messages.push_back(
      {text::Role::user,
       fmt::format(
           "This kernel is right. Go on below Triton: edit the PTX of `{}`. ptxas assembles your "
           "text, and the same launch runs it, with the same grid, threads, shared memory and "
           "arguments.\n\nWith the PTX below: {}{}\n```ptx\n{}{}```\n\n"
           "Make one change that saves time: wider loads and stores (ld.global.v4.b32), other "
           "cache "
           "modifiers (L1::no_allocate, L2::128B), an unrolled loop, fewer instructions in a "
           "loop.\n"
           "- Only the body may change. All that stands before it stays the same: version, target, "
           "shared memory, parameters, launch bounds. Declare as many registers in the body as you "
           "need.\n"
           "- Use only what Triton itself writes. Calls, traps, clocks, generic addresses, "
           "constant "
           "memory and new shared memory are refused.\n"
           "- Reach no other addresses than this text does. A vector access needs an address that "
           "is a multiple of its size.\n"
           "Answer with the whole text between ```ptx and ```.\n",
           text::one_line(ask.edited, kName), figures_of(parent.verdict), last_edit(ask, history),
           ptx_of(history, ask.parent, ask.edited),
           ptx_of(history, ask.parent, ask.edited).ends_with('\n') ? "" : "\n")});
  return messages;
}

std::string changed_lines(std::string_view before, std::string_view after) {
  constexpr std::ptrdiff_t most = 80;
  const auto old_lines = lines_of(before), lines = lines_of(after);
  const auto [first_old, first] = std::ranges::mismatch(old_lines, lines);
  auto old_end = old_lines.end();
  auto end = lines.end();
  while (end != first && old_end != first_old && *(end - 1) == *(old_end - 1)) --end, --old_end;
  if (first == end && first_old == old_end) return "";
  std::string text;
  for (auto at = first; at != end && at - first < most; ++at) text += std::string(*at) + "\n";
  if (end - first > most) text += fmt::format("(and {} lines more)\n", end - first - most);
  return text.empty() ? "(lines were taken out)\n" : text;
}

std::string named_lines(std::string_view message, std::string_view text) {
  constexpr std::string_view word = "line ";
  constexpr int most = 4;
  const auto lines = lines_of(text);
  std::string named;
  int count = 0;
  for (std::size_t at = message.find(word); at != std::string_view::npos && count < most;
       at = message.find(word, at + 1)) {
    std::size_t line = 0;
    const char* begin = message.data() + at + word.size();
    std::from_chars(begin, message.data() + message.size(), line);
    if (line == 0 || line > lines.size()) continue;
    named += fmt::format("  line {}: {}\n", line, text::one_line(lines[line - 1], kLine));
    ++count;
  }
  return named;
}

}  // namespace tritonsmith::search
