#include "data/failure.h"

namespace tritonsmith {

std::string failure_of(const Verdict& verdict) {
  if (verdict.accepted) return {};
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject) return finding.rule;
  if (verdict.error) return class_name(*verdict.error);
  return fmt::format("stage {}", name_of(verdict.stage));
}

}  // namespace tritonsmith
