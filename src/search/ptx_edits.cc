#include "search/ptx_edits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "text/code_fence.h"

namespace tritonsmith::search {
namespace {

constexpr std::string_view kEntry = ".entry", kVersion = ".version";

// The attempt that shows the compiler's own PTX.
std::optional<int> shown(const History& history) {
  const auto at = std::ranges::find(history.asks(), AskKind::show, &Ask::kind);
  return at == history.asks().end() ? std::nullopt : std::optional(at->number);
}

// The name of the kernel that takes most of the time and whose PTX is known. Kernels of one
// candidate have the same order in all of its verdicts.
std::string slowest_kernel(const Verdict& verdict, const Verdict& shown) {
  std::string name;
  double most = -1;
  for (std::size_t i = 0; i < std::min(verdict.kernels.size(), shown.kernels.size()); ++i) {
    const KernelReport& kernel = shown.kernels[i];
    if (kernel.ptx.empty() || kernel.launches == 0 || verdict.kernels[i].device_us <= most)
      continue;
    most = verdict.kernels[i].device_us;
    name = kernel.ptx_name;
  }
  return name;
}

}  // namespace

std::optional<int> fastest_ptx(const History& history) {
  std::optional<int> fastest;
  for (const Ask& ask : history.asks()) {
    const Attempt* attempt = history.attempt(ask.number);
    if (!is_below_triton(ask.kind) || attempt == nullptr || !attempt->verdict.accepted ||
        !attempt->verdict.speedup)
      continue;
    if (!fastest || is_better(*attempt, *history.attempt(*fastest))) fastest = ask.number;
  }
  return fastest;
}

std::optional<double> gain_of_edits(const History& history) {
  const auto own = shown(history), fastest = fastest_ptx(history);
  if (!fastest || own == fastest) return std::nullopt;
  const auto before = history.attempt(*own)->verdict.speedup;
  if (!before || *before <= 0) return std::nullopt;
  return *history.attempt(*fastest)->verdict.speedup / *before;
}

std::optional<Ask> next_edit(const SearchConfig& config, const History& history) {
  const auto best = history.best();
  if (config.ptx == 0 || !best || history.in_flight() > 0) return std::nullopt;
  const Attempt& kernel = *history.attempt(*best);
  if (!kernel.verdict.speedup) return std::nullopt;
  Ask ask{.number = static_cast<int>(history.asks().size()),
          .round = history.asks().back().round + 1};
  const auto own = shown(history);
  if (!own) {
    ask.kind = AskKind::show;
    ask.parent = *best;
    ask.kernel = kernel.kernel;
    return ask;
  }
  const auto fastest = fastest_ptx(history);
  if (!fastest || std::ranges::count(history.asks(), AskKind::ptx, &Ask::kind) >= config.ptx)
    return std::nullopt;
  ask.kind = AskKind::ptx;
  ask.parent = *fastest;
  ask.edited = slowest_kernel(history.attempt(*fastest)->verdict, history.attempt(*own)->verdict);
  ask.draw = static_cast<std::uint64_t>(ask.number);
  if (const int last = history.asks().back().number; last != *fastest && last != *own)
    ask.other = last;
  return ask.edited.empty() ? std::nullopt : std::optional(ask);
}

std::string ptx_of(const History& history, int attempt, const std::string& kernel) {
  const Attempt& of = *history.attempt(attempt);
  if (const auto edited = of.ptx.find(kernel); edited != of.ptx.end()) return edited->second;
  for (const KernelReport& each : history.attempt(*shown(history))->verdict.kernels)
    if (each.ptx_name == kernel) return each.ptx;
  return "";
}

std::string ptx_in(std::string_view answer) {
  if (const std::size_t end = answer.rfind("</think"); end != std::string_view::npos)
    answer.remove_prefix(end);
  std::string_view found;
  const auto fences = text::find_fences(answer, {0, answer.size()});
  for (const text::CodeFence& fence : fences) {
    const auto inside = answer.substr(fence.inside.begin, fence.inside.end - fence.inside.begin);
    if (fence.closed && inside.find(kEntry) != std::string_view::npos) found = inside;
  }
  if (!fences.empty()) return std::string(found);
  const std::size_t begin = answer.find(kVersion), end = answer.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return "";
  found = answer.substr(begin, end + 1 - begin);
  return found.find(kEntry) == std::string_view::npos ? "" : std::string(found) + "\n";
}

Verdict missing_ptx_verdict(const Task& task, Policy policy) {
  Verdict verdict{.task_id = task.id, .policy = policy};
  verdict.fault = Fault::candidate;
  verdict.error = VerdictError{.error_class = ErrorClass::no_kernel,
                               .message = "the answer holds no PTX between ```ptx and ```"};
  return verdict;
}

std::string words_for_edits(const SearchConfig& config, const History& history) {
  if (config.ptx == 0 || !history.best()) return "";
  if (!history.attempt(*history.best())->verdict.speedup)
    return "; no PTX was edited: without a GPU edited PTX can be assembled, but not judged";
  const auto edits = std::ranges::count(history.asks(), AskKind::ptx, &Ask::kind);
  const std::string count =
      fmt::format("; {} of PTX {} judged", counted(edits, "edit"), were_for(edits));
  const auto gain = gain_of_edits(history);
  if (!gain) return count + (edits > 0 ? ", and none is faster than Triton's own" : "");
  return fmt::format("{}, and the fastest is {:.2f} times as fast as Triton's own", count, *gain);
}

}  // namespace tritonsmith::search
