// VerifierConfig: how the verifier asks its model, and what its answers change.
#pragma once

#include "base/config.h"
#include "data/finding.h"

namespace tritonsmith::verifier {

// note: the findings inform. reject: a kernel with a finding is not accepted.
enum class Effect { note, reject };

// The kernels that the model is asked about. accepted: those that our rules and trials accept, the
// only ones that a finding can change. every: also those that were refused or failed, so that the
// model can be compared with the rules.
enum class Scope { accepted, every };

struct VerifierConfig {
  int votes = 3;
  Effect severity = Effect::note;
  Scope kernels = Scope::accepted;
  double temperature = 0.7;
  int max_new_tokens = 4096;
  static Fields<VerifierConfig> fields();
};

Severity severity_of(Effect effect);

}  // namespace tritonsmith::verifier

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::verifier::Effect> =
    tritonsmith::names<tritonsmith::verifier::Effect>(
        {{tritonsmith::verifier::Effect::note, "note"},
         {tritonsmith::verifier::Effect::reject, "reject"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::verifier::Scope> =
    tritonsmith::names<tritonsmith::verifier::Scope>(
        {{tritonsmith::verifier::Scope::accepted, "accepted"},
         {tritonsmith::verifier::Scope::every, "every"}});
