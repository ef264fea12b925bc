#include "cli/attempt_lines.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/log.h"
#include "data/failure.h"
#include "search/words.h"
#include "text/feedback.h"

namespace tritonsmith::cli {
namespace {

constexpr std::size_t kMostReason = 200;  // in bytes

// Returns "conversation 2, turn 3" or "attempt 7 of 64, changes 3".
std::string beginning_of(const search::Ask& ask, int attempts) {
  const std::string origin = search::origin_of(ask);
  if (ask.chain != search::kNone) return origin;
  std::string label = fmt::format("attempt {}", ask.number + 1);
  if (!search::is_of_the_program(ask.kind) && ask.number < attempts)
    label += fmt::format(" of {}", attempts);
  return origin.empty() ? label : label + ", " + origin;
}

std::string result_of(const search::Attempt& attempt, bool is_best) {
  const Verdict& verdict = attempt.verdict;
  if (attempt.ask.kind == search::AskKind::ideas) return "written";
  if (verdict.accepted) {
    std::string text = "accepted";
    if (verdict.speedup) text += fmt::format(", {:.2f} times as fast as PyTorch", *verdict.speedup);
    return text + (is_best ? ", the best so far" : "");
  }
  if (verdict.error)
    return text::one_line(
        fmt::format("{}: {}", class_name(*verdict.error), placed_message(*verdict.error)),
        kMostReason);
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject)
      return text::one_line(fmt::format("refused, {}: {}", finding.rule, finding.message),
                            kMostReason);
  return "not accepted";
}

}  // namespace

std::string line_of(const search::Attempt& attempt, const search::Search& search) {
  std::string line =
      fmt::format("{} ({:.1f} s): ", beginning_of(attempt.ask, search.request().config.attempts),
                  attempt.seconds);
  if (attempt.same_as != search::kNone)
    line += fmt::format("the kernel of attempt {} again, ", attempt.same_as + 1);
  const auto best = search.history().best();
  return line + result_of(attempt, best && *best == attempt.ask.number);
}

AttemptLines::AttemptLines(const search::Search& search) : search_(search) {
  const auto& finished = search.history().finished();
  earlier_ = {finished.begin(), finished.end()};
  if (!earlier_.empty()) LOG("{} made before", counted_were(std::ssize(earlier_), "attempt"));
}

AttemptLines::~AttemptLines() {
  for (const auto& [number, line] : waiting_) LOG("{}", line);
}

void AttemptLines::add(const search::Attempt& attempt) {
  waiting_[attempt.ask.number] = line_of(attempt, search_);
  earlier_.erase(attempt.ask.number);
  for (;;) {
    const auto first = waiting_.begin();
    if (first != waiting_.end() && first->first <= next_) {
      LOG("{}", first->second);
      next_ = std::max(next_, first->first + 1);
      waiting_.erase(first);
    } else if (earlier_.contains(next_)) {
      ++next_;
    } else {
      return;
    }
  }
}

}  // namespace tritonsmith::cli
