#include "search/messages.h"

#include <algorithm>
#include <limits>

#include "search/ptx_messages.h"
#include "text/conversation.h"
#include "text/feedback.h"

namespace tritonsmith::search {
namespace {

using text::Message;
using text::PromptStyle;
using text::Role;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLongestFinding = 300;  // in bytes

// For the choice of the turns that a turn sees.
double score_of(const Verdict& verdict) {
  const double stage = static_cast<double>(verdict.stage) / static_cast<double>(Stage::timed);
  return verdict.accepted ? 1 + verdict.speedup.value_or(0) : stage / 2;
}

Message answer_of(const Attempt& attempt) {
  return {Role::assistant, attempt.text.empty() ? answer_with(attempt.kernel) : attempt.text};
}

// The turns before the ask, up to one that began from the task alone.
std::vector<text::PastTurn> turns_before(const Ask& ask, const History& history,
                                         PromptStyle style) {
  std::vector<text::PastTurn> turns;
  for (int number = ask.parent; number != kNone;) {
    const Attempt& attempt = *history.attempt(number);
    turns.push_back({.answer = answer_of(attempt),
                     .feedback = text::feedback_text(attempt.verdict, style),
                     .score = score_of(attempt.verdict)});
    number = attempt.ask.parent;
  }
  std::ranges::reverse(turns);
  return turns;
}

std::vector<Message> conversation_for(const Ask& ask, const SearchConfig& config,
                                      const History& history, const Prompting& prompting,
                                      std::size_t keep) {
  const auto turns = turns_before(ask, history, prompting.style);
  std::vector<double> scores;
  for (const text::PastTurn& turn : turns) scores.push_back(turn.score);
  return text::next_messages(prompting.prompt, turns,
                             text::turns_to_show(scores, config.turns.context, keep));
}

std::string request_for_change(const Verdict& verdict) {
  if (!verdict.accepted)
    return "\nFind the mistake and mend it. Answer in the same form as before, with the whole "
           "file.\n";
  const std::string advice = profile_advice(verdict);
  return (advice.empty() ? "" : "\n" + advice) +
         "\nMake one change that the figures above point to, and keep the kernel right. Answer in "
         "the same form as before, with the whole file.\n";
}

std::string request_for_ideas(int count, bool has_kernel) {
  return fmt::format(
      "Do not write code yet. State {} different ideas for {}. Each idea is one sentence: what is "
      "done, and why that saves time. Give them as a numbered list, one idea a line, between "
      "<answer> and </answer>.\n",
      count, has_kernel ? "a faster kernel than this one" : "a fast kernel");
}

std::string other_kernel(const Attempt& other) {
  return fmt::format(
      "\nAnother kernel for the same task takes another way{}. Use what is good in "
      "it.\n\n```python\n{}\n```\n",
      other.verdict.speedup ? fmt::format(" (speed-up {:.2f})", *other.verdict.speedup) : "",
      trimmed(other.kernel));
}

// Returns what the last message says of the parent, and then asks for.
std::string request_of(const Ask& ask, const SearchConfig& config, const History& history) {
  const Attempt* parent = ask.parent == kNone ? nullptr : history.attempt(ask.parent);
  const std::string verdict = parent == nullptr ? "" : text::verdict_text(parent->verdict) + "\n";
  if (ask.kind == AskKind::ideas)
    return verdict + request_for_ideas(config.width, parent != nullptr);
  if (!ask.idea.empty())
    return verdict + fmt::format("Implement this idea: {}\nAnswer with the whole file{}.\n",
                                 ask.idea, parent == nullptr ? "" : ", in the same form as before");
  const std::string other = ask.other == kNone ? "" : other_kernel(*history.attempt(ask.other));
  return text::verdict_text(parent->verdict) + other + request_for_change(parent->verdict);
}

std::string compact_request(const Ask& ask, const SearchConfig& config, const History& history) {
  if (ask.kind == AskKind::ideas) return fmt::format("state {} ideas, no code", config.width);
  if (!ask.idea.empty()) return "idea: " + ask.idea;
  return text::feedback_text(history.attempt(ask.parent)->verdict, PromptStyle::compact);
}

std::vector<Message> change_for(const Ask& ask, const SearchConfig& config, const History& history,
                                const Prompting& prompting) {
  std::vector<Message> messages = prompting.prompt;
  if (ask.parent == kNone && ask.kind == AskKind::kernel && ask.idea.empty()) return messages;
  const std::string request = prompting.style == PromptStyle::compact
                                  ? compact_request(ask, config, history)
                                  : request_of(ask, config, history);
  if (ask.parent == kNone) {
    messages.back().content += "\n" + request;
    return messages;
  }
  messages.push_back(answer_of(*history.attempt(ask.parent)));
  messages.push_back({Role::user, request});
  return messages;
}

// How to come nearer to the speed of light. Empty where little is left to gain. The time is a lower
// bound, so the advice promises no more than that.
std::string advice_for(const SpeedOfLight& light) {
  constexpr double near = 0.9;
  if (light.share >= near) return "";
  switch (light.bound) {
    case Bound::memory:
      return fmt::format(
          "Any kernel needs at least {:.4f} ms here, to move {:.4g} MB. Read each input once and "
          "write each output once, with wide, coalesced accesses.\n",
          light.ms, light.bytes / 1e6);
    case Bound::compute:
      return fmt::format(
          "Any kernel needs at least {:.4f} ms here, for {:.4g} GFLOP of products. Keep the matrix "
          "units busy: tl.dot on large blocks, with loads in flight (num_stages).\n",
          light.ms, light.flops / 1e9);
    case Bound::launch:
      return "The work is so small that a launch takes longer than the rest. Use one launch.\n";
  }
  return "";
}

}  // namespace

std::string answer_with(const std::string& kernel) {
  return "<answer>\n```python\n" + kernel + (kernel.ends_with('\n') ? "" : "\n") + "```\n</answer>";
}

std::vector<Message> messages_for(const Ask& ask, const SearchConfig& config,
                                  const History& history, const Prompting& prompting) {
  if (ask.kind == AskKind::ptx) return edit_messages(ask, history, prompting);
  if (ask.chain != kNone)
    return conversation_for(ask, config, history, prompting,
                            config.turns.context == text::ContextRule::all
                                ? kAll
                                : static_cast<std::size_t>(config.turns.keep));
  return change_for(ask, config, history, prompting);
}

std::vector<Message> fitting_messages(Ask& ask, const SearchConfig& config, const History& history,
                                      const Prompting& prompting,
                                      const std::function<bool(std::span<const Message>)>& fits) {
  auto messages = messages_for(ask, config, history, prompting);
  if (ask.parent == kNone || fits(messages)) return messages;
  if (ask.chain != kNone && config.turns.context != text::ContextRule::all)
    for (auto keep = static_cast<std::size_t>(config.turns.keep) - 1; keep > 0; --keep) {
      messages = conversation_for(ask, config, history, prompting, keep);
      if (fits(messages)) return messages;
    }
  if (ask.other != kNone) {
    ask.other = kNone;
    messages = messages_for(ask, config, history, prompting);
    if (fits(messages)) return messages;
  }
  if (ask.kind == AskKind::ptx) return messages;
  ask.parent = kNone;
  return messages_for(ask, config, history, prompting);
}

std::string profile_advice(const Verdict& verdict) {
  std::string advice = verdict.speed_of_light ? advice_for(*verdict.speed_of_light) : "";
  double all_us = 0;
  const KernelReport* slowest = nullptr;
  int launches = 0;
  for (const KernelReport& kernel : verdict.kernels) {
    all_us += kernel.device_us;
    launches += kernel.launches;
    if (slowest == nullptr || kernel.device_us > slowest->device_us) slowest = &kernel;
    if (kernel.spills > 0)
      advice += fmt::format(
          "{} spills {} registers to memory: smaller blocks or more warps keep them on the chip.\n",
          text::one_line(kernel.name, 60), kernel.spills);
  }
  for (const AtenReport& op : verdict.aten) all_us += op.device_us;
  for (const Finding& finding : verdict.findings)
    if (finding.rule == "low_occupancy")
      advice += text::one_line(finding.message, kLongestFinding) +
                ". With less of them, more warps hide each other's waits.\n";
  if (slowest != nullptr && slowest->device_us > 0 && slowest->device_us < all_us)
    advice += fmt::format("{} takes {:.0f} % of the time: it is worth the most effort.\n",
                          text::one_line(slowest->name, 60), 100 * slowest->device_us / all_us);
  if (launches > 1)
    advice += fmt::format(
        "{} launches: each one reads its inputs from memory again, unless two are fused.\n",
        launches);
  return advice;
}

}  // namespace tritonsmith::search
