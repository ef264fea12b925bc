// Credit: computes each token's advantage from the rewards. It decides which turns count
// (rejections), their returns over later turns, and their comparison within groups. With
// hierarchical credit, thinking and code have separate advantages. The functions are pure. The
// random draws of PRS depend only on the run's seed and the turn's position.
#pragma once

#include "algorithm/advantage.h"
#include "algorithm/mismatch.h"
#include "algorithm/profile_rejection.h"
#include "train/credit/policy_batch.h"

namespace tritonsmith::train {

enum class CreditKind { uniform, hierarchical };

struct CreditRules {
  algorithm::AdvantageOptions advantage;
  double discount = 1.0;
  CreditKind kind = CreditKind::uniform;
  double thinking_alpha = 0.1;
  bool mask_truncated = false;  // truncated turns count in their group, but are not trained on
  algorithm::MismatchRejection mismatch;
  std::optional<algorithm::ProfileRejection> profile;
  std::uint64_t seed = 0;
};

// The number of turns that each rule left out. Several rules may leave out the same turn.
struct Rejections {
  std::int64_t unscored = 0, mismatch = 0, profile = 0, truncated = 0;
};

// Fills the batch's counts and advantages, and each sample's advantage. A rejected turn takes no
// part in comparisons and adds nothing to the returns of earlier turns. Requires batch.old if
// mismatch is on.
Rejections assign_credit(std::span<JudgedSample> turns, std::span<const char> is_scored,
                         const CreditRules& rules, PolicyBatch& batch);

}  // namespace tritonsmith::train

namespace tritonsmith {
template <>
inline constexpr auto enum_names<train::CreditKind> = names<train::CreditKind>(
    {{train::CreditKind::uniform, "uniform"}, {train::CreditKind::hierarchical, "hierarchical"}});
}  // namespace tritonsmith
