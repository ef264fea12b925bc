#include "train/run/sample_text.h"

#include "data/failure.h"
#include "text/unicode.h"

namespace tritonsmith::train {

std::string text_of_sample(const Sample& sample) {
  constexpr std::size_t kLongest = 4096;  // bytes
  const Verdict& verdict = sample.verdict;
  std::string text = fmt::format(
      "**{}**, group {}, sample {}, turn {}: {}, reward {:.3f}, advantage {:+.3f}\n\n",
      sample.task_id, sample.group, sample.member, sample.turn + 1,
      verdict.accepted ? "accepted" : failure_of(verdict), sample.reward.total, sample.advantage);
  for (const RewardTerm& term : sample.reward.terms)
    text += fmt::format("- {}: {:.3g} x {:.3g}\n", term.name, term.value, term.weight);
  // Text that is indented by four spaces is code, whatever it holds.
  text += "\n    ";
  for (const char c : text::repair_utf8(sample.completion.text.substr(0, kLongest)))
    text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text + (sample.completion.text.size() > kLongest ? "\n    ...\n" : "\n");
}

}  // namespace tritonsmith::train
