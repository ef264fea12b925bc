#include "search/words.h"

#include <fmt/format.h>

#include <map>

#include "base/counted.h"
#include "data/failure.h"

namespace tritonsmith::search {
namespace {

// Returns "2 answers held no kernel and 1 repeated an earlier one", or nothing if there are none.
std::string words_for_others(int without_kernel, int repeated) {
  const auto answers = [](int count) { return counted(count, "answer"); };
  if (without_kernel == 0 && repeated == 0) return "";
  if (without_kernel == 0) return answers(repeated) + " repeated an earlier kernel";
  return answers(without_kernel) + " held no kernel" +
         (repeated == 0 ? "" : fmt::format(" and {} repeated an earlier one", repeated));
}

}  // namespace

std::string origin_of(const Ask& ask) {
  if (ask.chain != kNone)
    return fmt::format("conversation {}, turn {}", ask.chain + 1, ask.round + 1);
  if (ask.kind == AskKind::ideas) return "ideas in words";
  if (ask.parent == kNone) return "";
  const char* what = ask.kind == AskKind::tune   ? "tunes"
                     : ask.kind == AskKind::show ? "shows the PTX of"
                     : ask.kind == AskKind::ptx  ? "edits the PTX of"
                                                 : "changes";
  return fmt::format("{} {}", what, ask.parent + 1);
}

std::string summary_of(const History& history) {
  std::map<std::string, int> reasons;
  int kernels = 0, verified = 0, without_kernel = 0, repeated = 0;
  for (const int number : history.finished()) {
    const Attempt& attempt = *history.attempt(number);
    const CountsAs counted = counts_as(attempt);
    without_kernel += counted == CountsAs::without_kernel ? 1 : 0;
    repeated += counted == CountsAs::repeat ? 1 : 0;
    if (counted != CountsAs::kernel) continue;
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

}  // namespace tritonsmith::search
