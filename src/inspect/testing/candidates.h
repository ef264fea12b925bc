// Gives the rules' tests an honest candidate in pieces, and the rules that reject a candidate made
// of them.
#pragma once

#include <string>
#include <vector>

#include "inspect/inspect.h"

namespace tritonsmith::inspect {

inline const std::string kImports =
    "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "import triton\nimport triton.language as tl\n";
inline const std::string kKernel =
    "@triton.jit\ndef add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n"
    "    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    mask = offsets < n\n"
    "    x = tl.load(x_ptr + offsets, mask=mask)\n    tl.store(y_ptr + offsets, tl.exp(x) + 1, "
    "mask=mask)\n";
inline const std::string kLaunch =
    "add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)\n";

inline std::string model(const std::string& forward) {
  std::string body;
  std::size_t at = 0;
  while (at < forward.size()) {
    const std::size_t end = forward.find('\n', at) + 1;
    body += "        " + forward.substr(at, end - at);
    at = end;
  }
  return "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.linear = nn.Linear(4, 4)\n\n    def forward(self, x):\n" +
         body;
}
inline const std::string kForward = "y = torch.empty_like(x)\n" + kLaunch + "return y\n";
inline const std::string kHonest = kImports + kKernel + model(kForward);

// Returns the names of the rules that gave a finding of this severity.
inline std::vector<std::string> rules(const std::string& source, Severity severity,
                                      Policy policy = Policy::strict) {
  std::vector<std::string> names;
  for (const Finding& finding : inspect_kernel(source, policy))
    if (finding.severity == severity && (names.empty() || names.back() != finding.rule))
      names.push_back(finding.rule);
  return names;
}
inline std::vector<std::string> rejects(const std::string& source, Policy policy = Policy::strict) {
  return rules(source, Severity::reject, policy);
}
inline std::vector<std::string> with_line(const std::string& line) {
  return rejects(kHonest + line + "\n");
}
inline std::vector<std::string> in_forward(const std::string& line) {
  return rejects(kImports + kKernel +
                 model("y = torch.empty_like(x)\n" + kLaunch + line + "\nreturn y\n"));
}
using Rules = std::vector<std::string>;

}  // namespace tritonsmith::inspect
