#include "cli/judge_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "data/failure.h"
#include "report/tables.h"
#include "text/feedback.h"

namespace tritonsmith::cli {
namespace {

std::string_view headline(const Verdict& verdict) {
  if (verdict.accepted) return "accepted";
  if (verdict.fault == Fault::infrastructure) return "no verdict";
  if (verdict.correct) return "correct, but refused";
  if (verdict.fault == Fault::none) return "no verdict on correctness";
  return verdict.compiled ? "wrong" : "failed";
}

// Says how far the candidate came, where judging did not end well.
std::string_view words_for(Stage stage) {
  switch (stage) {
    case Stage::none:
      return "it was not read";
    case Stage::extracted:
      return "it was not parsed";
    case Stage::parsed:
      return "it was parsed, and nothing of it ran";
    case Stage::inspected:
      return "its Python ran in part";
    case Stage::captured:
      return "its Python ran, and no kernel did";
    case Stage::compiled:
      return "it compiled";
    case Stage::ran:
      return "it ran";
    case Stage::correct:
    case Stage::timed:
      return "its values are right";
  }
  return "";
}

// Returns "it ran; policy strict; judged on a CPU, for the chip sm_90".
std::string circumstances(const Verdict& verdict) {
  std::string text = verdict.accepted ? "" : fmt::format("{}; ", words_for(verdict.stage));
  text += fmt::format("policy {}", name_of(verdict.policy));
  if (verdict.stage >= Stage::captured && !verdict.environment.target.empty())
    text += fmt::format("; judged on a {}, for the chip {}",
                        verdict.backend == Backend::evaluate ? "CPU" : "GPU",
                        verdict.environment.target);
  if (verdict.comparison == Comparison::allclose) text += "; compared as KernelBench does";
  return text;
}

// Indents the later lines of a message, so that none looks like a line of the program.
std::string indented(std::string_view text) {
  std::string lines;
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "    ";
  }
  return lines;
}

std::string error_text(const VerdictError& error, std::string_view file) {
  std::string text = fmt::format("  {}: {}\n", class_name(error), indented(error.message));
  if (error.line > 0) text += fmt::format("    {}\n", indented(position_words(error, file)));
  return text;
}

std::string finding_text(const Finding& finding) {
  return fmt::format("  {} {}: {}{}\n", name_of(finding.severity), finding.rule,
                     finding.line > 0 ? fmt::format("line {}: ", finding.line) : "",
                     indented(finding.message));
}

// Says whether the error is this very finding: inspection's first one that rejects.
bool is_told_by(const Finding& finding, const std::optional<VerdictError>& error) {
  return error && error->error_class == ErrorClass::refused && error->line == finding.line &&
         error->message == fmt::format("{}: {}", finding.rule, finding.message);
}

std::string kernel_text(const KernelReport& kernel) {
  return fmt::format(
      "  kernel `{}`: {}, {}, {}, {} of shared memory\n", kernel.name,
      counted_or_no(kernel.launches, "launch"), counted_or_no(kernel.registers, "register"),
      counted_or_no(kernel.spills, "spill"), counted_or_no(kernel.shared_bytes, "byte"));
}

std::string numerics_text(const Numerics& numerics) {
  if (numerics.trials == 0) return {};  // no comparison was completed
  const std::string allowed = tolerance_words(numerics);
  return fmt::format("  {}: the largest difference is {:.3g} absolute, {:.3g} relative{}{}\n",
                     counted(numerics.trials, "trial"), numerics.max_abs, numerics.max_rel,
                     allowed.empty() ? "" : "; ", allowed);
}

// Returns "0.0321 ms (0.0319 to 0.0323)": the median, and its 95 % interval if that is known.
std::string time_text(const Timing& timing) {
  std::string median = fmt::format("{:.4f} ms", timing.median);
  if (timing.median_high <= 0) return median;
  return fmt::format("{} ({:.4f} to {:.4f})", median, timing.median_low, timing.median_high);
}

std::string timing_text(const Verdict& verdict) {
  if (!verdict.time_ms || !verdict.reference_ms) return {};
  std::string text = fmt::format(
      "  {}, the reference {}: {:.2f} times as fast\n"
      "  {} rounds{}; {:.0f} % of the time in own kernels\n",
      time_text(*verdict.time_ms), time_text(*verdict.reference_ms), verdict.speedup.value_or(0),
      verdict.time_ms->n,
      verdict.time_ms->median_high > 0 ? ", medians with their 95 % intervals" : "",
      100 * verdict.coverage.value_or(0));
  if (verdict.speed_of_light) text += fmt::format("  {}\n", words_for(*verdict.speed_of_light));
  if (verdict.peak_bytes > 0 && verdict.reference_peak_bytes > 0)
    text += fmt::format("  {:.4g} MB at its peak, the reference {:.4g} MB\n",
                        verdict.peak_bytes / 1e6, verdict.reference_peak_bytes / 1e6);
  for (const auto& [name, timing] : verdict.baselines)
    text += fmt::format("  {}: {}\n", name == "torch_compile" ? "torch.compile" : name,
                        time_text(timing));
  for (const KernelReport& kernel : verdict.kernels)
    if (kernel.launches > 0)
      text += fmt::format("  {:.1f} us in {}\n", kernel.device_us, kernel.name);
  for (const AtenReport& operation : verdict.aten)
    if (operation.device_us > 0)
      text += fmt::format("  {:.1f} us in {}\n", operation.device_us, operation.op);
  return text;
}

double seconds_of(const Verdict& verdict) {
  for (const auto& [stage, ms] : verdict.stage_ms)
    if (stage == "total") return ms / 1e3;
  return 0;
}

// Returns "Judged in 0.2 s. Speed was not measured: this machine has no GPU."
std::string closing(const Verdict& verdict, std::string_view untimed) {
  std::string text =
      verdict.from_store
          ? fmt::format("  This is a stored verdict; judging took {:.1f} s.", seconds_of(verdict))
          : fmt::format("  Judged in {:.1f} s.", seconds_of(verdict));
  if (verdict.correct && !verdict.time_ms)
    text += fmt::format(" Speed was not measured: {}.", untimed);
  if (verdict.time_ms) text += fmt::format(" Timed on {}.", verdict.environment.gpu);
  return text + '\n';
}

// Returns the reason in a few words: the error, or else the rule that rejects.
std::string short_reason(const Verdict& verdict) {
  constexpr std::size_t kLongest = 60;
  if (verdict.accepted) return {};
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject)
      return fmt::format("{}: {}", finding.rule, text::one_line(finding.message, kLongest));
  if (!verdict.error) return {};
  return fmt::format("{}: {}", class_name(*verdict.error),
                     text::one_line(verdict.error->message, kLongest));
}

}  // namespace

std::string judge_text(const Verdict& verdict, std::string_view untimed, std::string_view file) {
  std::string text =
      fmt::format("{}: {} ({})\n", verdict.task_id, headline(verdict), circumstances(verdict));
  if (verdict.error) text += error_text(*verdict.error, file);
  for (const Finding& finding : verdict.findings)
    if (!is_told_by(finding, verdict.error)) text += finding_text(finding);
  for (const KernelReport& kernel : verdict.kernels) text += kernel_text(kernel);
  // The error tells of the trial in which the values were wrong.
  if (verdict.numerics && verdict.correct) text += numerics_text(*verdict.numerics);
  return text + timing_text(verdict) + closing(verdict, untimed);
}

std::string verdict_table(std::span<const Verdict> verdicts, std::span<const std::string> files,
                          std::string_view untimed) {
  const bool is_timed =
      std::ranges::any_of(verdicts, [](const Verdict& each) { return each.time_ms.has_value(); });
  std::vector<std::vector<std::string>> rows = {{"kernel", "verdict"}};
  if (is_timed) rows[0].insert(rows[0].end(), {"ms", "speed-up"});
  rows[0].emplace_back("why");
  double seconds = 0;
  bool has_untimed = false;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Verdict& verdict = verdicts[i];
    auto& row =
        rows.emplace_back(std::vector<std::string>{files[i], std::string(headline(verdict))});
    if (is_timed)
      row.insert(row.end(), {verdict.time_ms ? fmt::format("{:.4f}", verdict.time_ms->median) : "-",
                             verdict.speedup ? fmt::format("{:.2f}", *verdict.speedup) : "-"});
    row.push_back(short_reason(verdict));
    seconds = std::max(seconds, verdict.from_store ? 0 : seconds_of(verdict));
    has_untimed = has_untimed || (verdict.correct && !verdict.time_ms);
  }
  const auto accepted = std::ranges::count_if(verdicts, &Verdict::accepted);
  return fmt::format("{}{} of {} accepted (policy {}). Judged in {:.1f} s.{}\n",
                     report::to_text(rows, report::Alignment::left), accepted, verdicts.size(),
                     name_of(verdicts.front().policy), seconds,
                     has_untimed ? fmt::format(" Speed was not measured: {}.", untimed) : "");
}

}  // namespace tritonsmith::cli
