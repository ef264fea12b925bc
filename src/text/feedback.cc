#include "text/feedback.h"

#include <algorithm>

#include "base/counted.h"
#include "base/printable.h"

namespace tritonsmith::text {
namespace {

constexpr std::size_t kMessage = 300, kName = 60, kMost = 6;

const Finding* first_rejection(const Verdict& verdict) {
  const auto at = std::ranges::find(verdict.findings, Severity::reject, &Finding::severity);
  return at == verdict.findings.end() ? nullptr : &*at;
}

std::string line_of_source(int line, std::string_view excerpt) {
  if (line <= 0) return "";
  if (excerpt.empty()) return fmt::format("  line {}\n", line);
  return fmt::format("  line {}: {}\n", line, one_line(excerpt, kMessage));
}

std::string error_text(const Verdict& verdict) {
  if (!verdict.error) return "";
  const VerdictError& error = *verdict.error;
  return fmt::format("{}: {}\n", one_line(class_name(error), kName),
                     one_line(error.message, kMessage)) +
         line_of_source(error.line, error.excerpt);
}

std::string findings_text(const Verdict& verdict, Severity severity) {
  std::string text;
  std::size_t count = 0;
  for (const Finding& finding : verdict.findings) {
    if (finding.severity != severity || ++count > kMost) continue;
    text += fmt::format("{}{}: {}\n", one_line(finding.rule, kName),
                        finding.line > 0 ? fmt::format(", line {}", finding.line) : "",
                        one_line(finding.message, kMessage));
  }
  return text;
}

std::string numerics_text(const Verdict& verdict) {
  if (!verdict.numerics || verdict.accepted) return "";
  return fmt::format("Largest difference: {:.3g} absolute, {:.3g} relative.\n",
                     verdict.numerics->max_abs, verdict.numerics->max_rel);
}

std::string time_text(const Verdict& verdict) {
  if (!verdict.time_ms || !verdict.reference_ms) return "";
  std::string text = fmt::format("It takes {:.4g} ms, the reference {:.4g} ms",
                                 verdict.time_ms->median, verdict.reference_ms->median);
  if (verdict.speedup) text += fmt::format(": speed-up {:.2f}", *verdict.speedup);
  text += ".\n";
  if (verdict.speed_of_light) text += "It reaches " + words_for(*verdict.speed_of_light) + ".\n";
  if (verdict.peak_bytes > 0 && verdict.reference_peak_bytes > 0)
    text += fmt::format("Its tensors take {:.4g} MB at their peak, the reference's {:.4g} MB.\n",
                        verdict.peak_bytes / 1e6, verdict.reference_peak_bytes / 1e6);
  if (verdict.coverage)
    text += fmt::format("{:.1f} % of the device time is in your own kernels.\n",
                        100 * *verdict.coverage);
  return text;
}

double device_time(const Verdict& verdict) {
  double us = 0;
  for (const KernelReport& kernel : verdict.kernels) us += kernel.device_us;
  for (const AtenReport& op : verdict.aten) us += op.device_us;
  return us;
}

// Lists the slowest kernels first. Without times (an evaluated verdict) it keeps the launch order.
std::string costs_text(const Verdict& verdict) {
  struct Cost {
    double device_us;
    std::string text;
  };
  std::vector<Cost> costs;
  const double all = device_time(verdict);
  const auto time = [all](double us) {
    return us > 0 ? fmt::format(", {:.1f} us ({:.0f} %)", us, 100 * us / all) : "";
  };
  for (const KernelReport& kernel : verdict.kernels)
    if (kernel.launches > 0)
      costs.push_back(
          {kernel.device_us,
           fmt::format("- kernel `{}`: {}{}, {}, {}, {} of shared memory\n",
                       one_line(kernel.name, kName), counted(kernel.launches, "launch"),
                       time(kernel.device_us), counted(kernel.registers, "register"),
                       counted(kernel.spills, "spill"), counted(kernel.shared_bytes, "byte"))});
  for (const AtenReport& op : verdict.aten)
    costs.push_back({op.device_us, fmt::format("- torch `{}`: {}{}\n", one_line(op.op, kName),
                                               counted(op.calls, "call"), time(op.device_us))});
  std::ranges::stable_sort(costs, std::ranges::greater(), &Cost::device_us);
  std::string text;
  for (std::size_t i = 0; i < std::min(costs.size(), kMost); ++i) text += costs[i].text;
  if (costs.size() > kMost) text += fmt::format("- and {} more\n", costs.size() - kMost);
  return text;
}

std::string_view headline(const Verdict& verdict) {
  if (verdict.accepted)
    return verdict.speedup && *verdict.speedup < 1 ? "Your kernel is right, but slower than the "
                                                     "reference."
                                                   : "Your kernel is right.";
  if (verdict.stage == Stage::none) return "There is no kernel in your answer.";
  if (first_rejection(verdict) != nullptr) return "Your kernel is refused.";
  switch (verdict.stage) {
    case Stage::none:
    case Stage::extracted:
      return "Your code is no valid Python.";
    case Stage::parsed:
    case Stage::inspected:
      return "Your module fails before it launches its kernels.";
    case Stage::captured:
      return "Your kernel does not compile.";
    case Stage::compiled:
      return "Your kernel compiles, but does not run to its end.";
    case Stage::ran:
    case Stage::correct:
    case Stage::timed:
      break;
  }
  return "Your kernel runs, but its result is wrong.";
}

std::string facts_text(const Verdict& verdict) {
  std::string text = fmt::format("{}\n", headline(verdict));
  if (!verdict.accepted) text += error_text(verdict);
  text += findings_text(verdict, Severity::reject);
  text += numerics_text(verdict);
  text += time_text(verdict);
  if (verdict.compiled) text += costs_text(verdict);
  return text + findings_text(verdict, Severity::warn);
}

std::string full_text(const Verdict& verdict) {
  return facts_text(verdict) +
         (verdict.accepted ? "\nMake it faster, and keep it right. "
                           : "\nFind the mistake and mend it. ") +
         "Answer in the same form as before, with the whole file.\n";
}

// Returns one or two short lines.
std::string compact_text(const Verdict& verdict) {
  if (verdict.accepted)
    return verdict.speedup ? fmt::format("right, speed-up {:.2f}, faster please", *verdict.speedup)
                           : "right, faster please";
  const Finding* rejection = first_rejection(verdict);
  std::string text = rejection != nullptr ? rejection->rule
                     : verdict.error      ? class_name(*verdict.error)
                                          : "wrong";
  int line = verdict.error ? verdict.error->line : 0;
  if (rejection != nullptr && rejection->line > 0) line = rejection->line;
  text = one_line(text, kName);
  if (line > 0) text += fmt::format(" in line {}", line);
  if (verdict.error && !verdict.error->excerpt.empty() && line == verdict.error->line)
    text += fmt::format("\n{}", one_line(verdict.error->excerpt, kName));
  return text;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::size_t end = text.find_first_of("\r\n");
  const std::string_view line = text.substr(0, end);
  std::string_view kept = first_bytes(line, limit);
  const bool is_whole =
      text.substr(kept.size()).find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (is_whole) return std::string(kept);
  // A text that is cut ends between two words, unless a single word fills half of it.
  if (const std::size_t space = kept.rfind(' ');
      kept.size() < line.size() && space != std::string_view::npos && space > kept.size() / 2)
    kept = kept.substr(0, space);
  return std::string(kept) + "...";
}

std::string verdict_text(const Verdict& verdict) { return facts_text(verdict); }

std::string feedback_text(const Verdict& verdict, PromptStyle style) {
  return style == PromptStyle::compact ? compact_text(verdict) : full_text(verdict);
}

}  // namespace tritonsmith::text
