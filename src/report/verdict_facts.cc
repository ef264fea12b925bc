#include "report/verdict_facts.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "data/failure.h"
#include "report/html.h"

namespace tritonsmith::report {
namespace {

std::string fact(std::string_view name, const std::string& value) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escape(value));
}

std::string tolerance_text(const Numerics& numerics) {
  const std::string allowed = tolerance_words(numerics);
  return allowed.empty() ? "" : fmt::format(" ({})", allowed);
}

}  // namespace

std::string badges(const Verdict& verdict) {
  const auto badge = [](std::string_view css, std::string_view text) {
    return fmt::format("<span class=\"badge {}\">{}</span>", css, escape(text));
  };
  if (verdict.accepted) return badge("good", "correct") + badge("good", "accepted");
  const std::string why = badge("bad", failure_of(verdict));
  return (verdict.correct ? badge("half", "correct") + badge("bad", "refused") : "") + why;
}

std::string verdict_facts(const Verdict& verdict) {
  std::string facts = fact("stage", std::string(name_of(verdict.stage)));
  if (verdict.error)
    facts += fact(
        "error",
        fmt::format("{}: {}{}", class_name(*verdict.error),
                    verdict.error->line > 0 ? fmt::format("line {}: ", verdict.error->line) : "",
                    verdict.error->message));
  for (const Finding& finding : verdict.findings)
    facts += fact(name_of(finding.severity),
                  fmt::format("{}: {}{}", finding.rule,
                              finding.line > 0 ? fmt::format("line {}: ", finding.line) : "",
                              finding.message));
  if (verdict.numerics && verdict.numerics->trials > 0)
    facts += fact("largest error",
                  fmt::format("{:.3g} absolute, {:.3g} relative, over {} trials{}",
                              verdict.numerics->max_abs, verdict.numerics->max_rel,
                              verdict.numerics->trials, tolerance_text(*verdict.numerics)));
  if (verdict.time_ms && verdict.reference_ms)
    facts += fact("time", fmt::format("{:.4f} ms, the reference {:.4f} ms: speed-up {:.2f}",
                                      verdict.time_ms->median, verdict.reference_ms->median,
                                      verdict.speedup.value_or(0)));
  if (verdict.speed_of_light) facts += fact("speed of light", words_for(*verdict.speed_of_light));
  if (verdict.peak_bytes > 0)
    facts += fact("peak memory",
                  fmt::format("{:.4g} MB, the reference {:.4g} MB", verdict.peak_bytes / 1e6,
                              verdict.reference_peak_bytes / 1e6));
  for (const KernelReport& kernel : verdict.kernels)
    facts +=
        fact("kernel",
             fmt::format("{}: {}, {}, {}, {} of shared memory", kernel.name,
                         counted(kernel.launches, "launch"), counted(kernel.registers, "register"),
                         counted(kernel.spills, "spill"), counted(kernel.shared_bytes, "byte")));
  return fmt::format("<dl>{}</dl>\n", facts);
}

}  // namespace tritonsmith::report
