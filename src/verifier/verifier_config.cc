#include "verifier/verifier_config.h"

namespace tritonsmith::verifier {

Fields<VerifierConfig> VerifierConfig::fields() {
  using C = VerifierConfig;
  return {field("votes", &C::votes,
                "How often the model is asked about a kernel. More than half of the votes make a "
                "finding.",
                between(1, 99)),
          field("severity", &C::severity,
                "note: findings inform. reject: a kernel with a finding is not accepted, so each "
                "verdict waits for the votes."),
          field("kernels", &C::kernels,
                "accepted: ask about the kernels that the gym accepts. every: ask about all, to "
                "compare the model with the rules."),
          field("temperature", &C::temperature, "0 makes all votes alike.", between(0.0, 100.0)),
          field("max_new_tokens", &C::max_new_tokens,
                "A longer answer is cut, and its vote cannot be read.", at_least(1))};
}

Severity severity_of(Effect effect) {
  return effect == Effect::reject ? Severity::reject : Severity::note;
}

}  // namespace tritonsmith::verifier
