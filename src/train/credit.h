// Credit: from rewards to what each token is pushed by. Which turns count at all (rejections), what
// they return over the turns after them, how they compare within their groups, and, with
// hierarchical credit, plan and code apart. Pure but for the draws of PRS, which come from the
// run's seed and the turn's place alone.
#pragma once

#include "algorithm/advantage.h"
#include "algorithm/mismatch.h"
#include "algorithm/profile_rejection.h"
#include "train/policy_batch.h"

namespace tritonsmith::train {

enum class CreditKind { uniform, hierarchical };

struct CreditRules {
  algorithm::AdvantageOptions advantage;
  double discount = 1.0;
  CreditKind kind = CreditKind::uniform;
  double plan_alpha = 0.1;
  bool mask_truncated = false;  // such turns count in their group, but are not trained on
  algorithm::MismatchRejection mismatch;
  std::optional<algorithm::ProfileRejection> profile;
  std::uint64_t seed = 0;
};

// How many of the turns each rule left out; a turn may be left out by more than one.
struct Rejections {
  std::int64_t unscored = 0, mismatch = 0, profile = 0, truncated = 0;
};

// Fills the batch's counts and advantages and each sample's advantage. A rejected turn is not
// compared with, and earns nothing for the turns before it. Needs batch.old where mismatch is on.
Rejections assign_credit(std::span<JudgedSample> turns, std::span<const char> is_scored,
                         const CreditRules& rules, PolicyBatch& batch);

}  // namespace tritonsmith::train

namespace tritonsmith {
template <>
inline constexpr auto enum_names<train::CreditKind> = names<train::CreditKind>(
    {{train::CreditKind::uniform, "uniform"}, {train::CreditKind::hierarchical, "hierarchical"}});
}  // namespace tritonsmith
