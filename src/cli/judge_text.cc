#include "cli/judge_text.h"

#include <fmt/format.h>

namespace tritonsmith::cli {
namespace {

std::string_view headline(const Verdict& verdict) {
  if (verdict.accepted) return "accepted";
  if (verdict.correct) return "correct, but refused";
  if (verdict.fault == Fault::none) return "no verdict on correctness";
  return verdict.compiled ? "wrong" : "failed";
}

std::string error_text(const VerdictError& error) {
  std::string text = fmt::format("  {}: {}\n", error.error_class, error.message);
  if (error.line > 0) text += fmt::format("    line {}: {}\n", error.line, error.excerpt);
  return text;
}

std::string kernel_text(const KernelReport& kernel) {
  return fmt::format(
      "  kernel {}: {} launches, {} registers, {} spills, {} bytes of shared memory\n", kernel.name,
      kernel.launches, kernel.registers, kernel.spills, kernel.shared_bytes);
}

std::string timing_text(const Verdict& verdict) {
  if (!verdict.time_ms || !verdict.reference_ms) return {};
  std::string text = fmt::format(
      "  {:.4f} ms, the reference {:.4f} ms: {:.2f} times as fast; {:.0f} % of the time in own "
      "kernels ({} rounds)\n",
      verdict.time_ms->median, verdict.reference_ms->median, verdict.speedup.value_or(0),
      100 * verdict.coverage.value_or(0), verdict.time_ms->n);
  for (const auto& [name, timing] : verdict.baselines)
    text += fmt::format("  {}: {:.4f} ms\n", name, timing.median);
  for (const KernelReport& kernel : verdict.kernels)
    if (kernel.launches > 0)
      text += fmt::format("  {:.1f} us in {}\n", kernel.device_us, kernel.name);
  for (const AtenReport& operation : verdict.aten)
    if (operation.device_us > 0)
      text += fmt::format("  {:.1f} us in {}\n", operation.device_us, operation.op);
  return text;
}

double total_ms(const Verdict& verdict) {
  for (const auto& [stage, ms] : verdict.stage_ms)
    if (stage == "total") return ms;
  return 0;
}

}  // namespace

std::string judge_text(const Verdict& verdict) {
  std::string text = fmt::format(
      "{}: {} (stage {}, policy {}, backend {}{}{})\n", verdict.task_id, headline(verdict),
      name_of(verdict.stage), name_of(verdict.policy), name_of(verdict.backend),
      verdict.comparison == Comparison::allclose ? ", compared as KernelBench does" : "",
      verdict.from_store ? ", from the store" : "");
  if (verdict.error) text += error_text(*verdict.error);
  for (const Finding& finding : verdict.findings)
    text += fmt::format("  {} {}: {}{}\n", name_of(finding.severity), finding.rule,
                        finding.line > 0 ? fmt::format("line {}: ", finding.line) : "",
                        finding.message);
  for (const KernelReport& kernel : verdict.kernels) text += kernel_text(kernel);
  if (verdict.numerics)
    text +=
        fmt::format("  {} trials, largest difference {:.3g} absolute, {:.3g} relative\n",
                    verdict.numerics->trials, verdict.numerics->max_abs, verdict.numerics->max_rel);
  text += timing_text(verdict);
  text += fmt::format("  {:.0f} ms; {} {}\n", total_ms(verdict),
                      verdict.backend == Backend::replay ? "run on" : "compiled for",
                      verdict.environment.gpu);
  return text;
}

}  // namespace tritonsmith::cli
