#include "cli/attempt_lines.h"

#include <fmt/format.h>

#include <map>

#include "base/counted.h"
#include "base/log.h"
#include "data/failure.h"
#include "text/feedback.h"

namespace tritonsmith::cli {
namespace {

constexpr std::size_t kMostReason = 200;  // in bytes

// Returns "conversation 2, turn 3" or "attempt 7 of 64, changes 3".
std::string beginning_of(const search::Ask& ask, int attempts) {
  if (ask.chain != search::kNone)
    return fmt::format("conversation {}, turn {}", ask.chain + 1, ask.round + 1);
  std::string label = fmt::format("attempt {}", ask.number + 1);
  if (!search::is_of_the_program(ask.kind) && ask.number < attempts)
    label += fmt::format(" of {}", attempts);
  if (ask.kind == search::AskKind::ideas) return label + ", ideas in words";
  if (ask.parent == search::kNone) return label;
  const char* what = ask.kind == search::AskKind::tune   ? "tunes"
                     : ask.kind == search::AskKind::show ? "shows the PTX of"
                     : ask.kind == search::AskKind::ptx  ? "edits the PTX of"
                                                         : "changes";
  return label + fmt::format(", {} {}", what, ask.parent + 1);
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

// Returns "2 answers held no kernel and 1 repeated an earlier one", or nothing if there are none.
std::string words_for_others(int without_kernel, int repeated) {
  const auto answers = [](int count) { return counted(count, "answer"); };
  if (without_kernel == 0 && repeated == 0) return "";
  if (without_kernel == 0) return answers(repeated) + " repeated an earlier kernel";
  return answers(without_kernel) + " held no kernel" +
         (repeated == 0 ? "" : fmt::format(" and {} repeated an earlier one", repeated));
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

std::string summary_of(const search::History& history) {
  std::map<std::string, int> reasons;
  int kernels = 0, verified = 0, without_kernel = 0, repeated = 0;
  for (const int number : history.finished()) {
    const search::Attempt& attempt = *history.attempt(number);
    const search::CountsAs counted = search::counts_as(attempt);
    without_kernel += counted == search::CountsAs::without_kernel ? 1 : 0;
    repeated += counted == search::CountsAs::repeat ? 1 : 0;
    if (counted != search::CountsAs::kernel) continue;
    ++kernels;
    verified += attempt.verdict.accepted ? 1 : 0;
    if (!attempt.verdict.accepted) ++reasons[failure_of(attempt.verdict)];
  }
  std::string text = fmt::format("{} of {} different kernels verified", verified, kernels);
  if (kernels == 1)
    text = fmt::format("the only kernel is {}verified", verified == 0 ? "not " : "");
  for (const auto& [reason, count] : reasons)
    text += kernels == 1 ? ": " + reason
                         : fmt::format("{} {} {}",
                                       &reason == &reasons.begin()->first ? "; the others:" : ",",
                                       reason, count);
  const std::string others = words_for_others(without_kernel, repeated);
  return text + (others.empty() ? "" : "; " + others);
}

AttemptLines::AttemptLines(const search::Search& search) : search_(search) {
  const auto& finished = search.history().finished();
  earlier_ = {finished.begin(), finished.end()};
  if (!earlier_.empty())
    LOG("{} made before",
        counted(std::ssize(earlier_), "attempt") + (earlier_.size() == 1 ? " was" : " were"));
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
