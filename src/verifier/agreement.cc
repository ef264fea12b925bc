#include "verifier/agreement.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::verifier {

std::optional<double> Agreement::share() const {
  if (kernels() == 0) return std::nullopt;
  return static_cast<double>(both + neither) / kernels();
}

std::optional<double> Agreement::kappa() const {
  const auto agreed = share();
  if (!agreed) return std::nullopt;
  const double rules = static_cast<double>(both + rules_only) / kernels();
  const double model = static_cast<double>(both + verifier_only) / kernels();
  const double chance = rules * model + (1 - rules) * (1 - model);
  if (chance >= 1) return std::nullopt;
  return (*agreed - chance) / (1 - chance);
}

void count(const Verdict& verdict, const Opinion& opinion, Agreement& agreement) {
  const bool rules_object = std::ranges::any_of(verdict.findings, [](const Finding& finding) {
    return finding.severity == Severity::reject && !is_verifiers(finding);
  });
  if (!rules_object && !verdict.correct) return;
  if (opinion.unreadable == opinion.votes) return;  // the model said nothing
  if (opinion.objects())
    ++(rules_object ? agreement.both : agreement.verifier_only);
  else
    ++(rules_object ? agreement.rules_only : agreement.neither);
}

Json to_json(const Agreement& agreement) {
  Json json = {{"kernels", agreement.kernels()},
               {"both", agreement.both},
               {"rules_only", agreement.rules_only},
               {"verifier_only", agreement.verifier_only},
               {"neither", agreement.neither}};
  if (const auto share = agreement.share()) json["share"] = *share;
  if (const auto kappa = agreement.kappa()) json["kappa"] = *kappa;
  return json;
}

std::string to_text(const Agreement& agreement) {
  if (agreement.kernels() == 0) return "there is no kernel about which both speak";
  const auto kappa = agreement.kappa();
  return fmt::format(
      "they agree about {} of {} kernels{}: both object to {}, the rules alone to {}, the verifier "
      "alone to {}",
      agreement.both + agreement.neither, agreement.kernels(),
      kappa ? fmt::format(" (kappa {:.2f})", *kappa) : "", agreement.both, agreement.rules_only,
      agreement.verifier_only);
}

}  // namespace tritonsmith::verifier
