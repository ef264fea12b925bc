#include "serve/mcp/reference_probe.h"

#include <cctype>

namespace tritonsmith::serve::mcp {
namespace {

constexpr std::string_view kProbe = R"(

import torch
import triton as probe_triton
import triton.language as probe_language


@probe_triton.jit
def pass_on(x_ptr, y_ptr, n, BLOCK: probe_language.constexpr):
    at = probe_language.program_id(0) * BLOCK + probe_language.arange(0, BLOCK)
    inside = at < n
    probe_language.store(y_ptr + at, probe_language.load(x_ptr + at, mask=inside), mask=inside)


def passed_on(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    pass_on[(probe_triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y


class ModelNew(ProbedModule):
    def forward(self, *inputs):
        outputs = super().forward(*inputs)
        if isinstance(outputs, torch.Tensor):
            return passed_on(outputs)
        first, *others = outputs
        return type(outputs)([passed_on(first), *others])
)";

bool is_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string reference_probe(std::string_view task_source) {
  constexpr std::string_view name = "Model", other = "ProbedModule";
  std::string source;
  std::size_t at = 0;
  for (std::size_t next = 0; (next = task_source.find(name, at)) != std::string_view::npos;) {
    const std::size_t end = next + name.size();
    const bool is_whole = (next == 0 || !is_of_a_name(task_source[next - 1])) &&
                          (end == task_source.size() || !is_of_a_name(task_source[end]));
    source += task_source.substr(at, next - at);
    source += is_whole ? other : name;
    at = end;
  }
  source += task_source.substr(at);
  source += kProbe;
  return source;
}

ToolResult probe_result(const Verdict& verdict) {
  if (!verdict.reference_ms) {
    const std::string reason =
        verdict.error ? fmt::format("{}: {}", class_name(*verdict.error), verdict.error->message)
                      : "The verdict has no times.";
    return {.text = "The reference was not timed. " + reason,
            .structured = {{"measured", false}, {"reason", reason}}};
  }
  std::string text = fmt::format("The reference takes {:.4g} ms", verdict.reference_ms->median);
  for (const auto& [name, timing] : verdict.baselines)
    text += fmt::format(", {} {:.4g} ms", name, timing.median);
  return {.text = text + fmt::format(" ({}).\n", verdict.environment.gpu),
          .structured = {{"measured", true},
                         {"reference_ms", to_json(*verdict.reference_ms)},
                         {"baselines", to_json(verdict.baselines)},
                         {"gpu", verdict.environment.gpu}}};
}

}  // namespace tritonsmith::serve::mcp
