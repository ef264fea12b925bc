#include "generate/engine/sampler.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "model/cpu/kernels.h"
#include "model/cpu/logprob.h"

namespace tritonsmith::generate::engine {
namespace {

// A token that may be drawn, with its probability before any cut.
struct Candidate {
  TokenId token;
  float probability;
};

bool likelier(const Candidate& a, const Candidate& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
}

void keep_top_k(std::vector<Candidate>& candidates, std::size_t k) {
  if (k == 0 || k >= candidates.size()) return;
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(k),
                   candidates.end(), likelier);
  candidates.resize(k);
}

double total_of(const std::vector<Candidate>& candidates) {
  double total = 0;
  for (const Candidate& each : candidates) total += each.probability;
  return total;
}

void keep_top_p(std::vector<Candidate>& candidates, double top_p) {
  const double total = total_of(candidates);
  // The tokens below the floor hold at most 1 - top_p together, so none of them is needed. Few
  // tokens then remain to be sorted.
  const double floor = (1.0 - top_p) * total / static_cast<double>(candidates.size());
  std::erase_if(candidates, [&](const Candidate& each) { return each.probability < floor; });
  std::ranges::sort(candidates, likelier);
  double reached = 0;
  std::size_t kept = 0;
  while (kept < candidates.size() && reached < top_p * total)
    reached += candidates[kept++].probability;
  candidates.resize(std::max<std::size_t>(kept, 1));
}

TokenId draw(const std::vector<Candidate>& candidates, double uniform) {
  double left = uniform * total_of(candidates);
  for (const Candidate& each : candidates) {
    left -= each.probability;
    if (left < 0) return each.token;
  }
  // Rounding can leave a rest. It belongs to the last token that can be drawn.
  for (auto each = candidates.rbegin(); each != candidates.rend(); ++each)
    if (each->probability > 0) return each->token;
  return candidates.front().token;
}

}  // namespace

Result<SampledToken> sample_token(std::span<const float> logits, const SamplingParams& params,
                                  std::uint64_t seed, std::uint64_t position) {
  const auto& kernel = model::cpu::kernels<float>();
  const bool greedy = params.temperature == 0;
  // This is the trainer's expression (model/layers/linear_logprob.h), so both get the same bits.
  const auto inverse = static_cast<float>(1.0 / (greedy ? 1.0 : params.temperature));
  const auto count = static_cast<std::int64_t>(logits.size());
  const float normaliser = kernel.row_logprob(logits.data(), count, inverse).log_normaliser;
  if (!std::isfinite(normaliser))
    return fail("the model's logits are no finite numbers; its weights are damaged");
  const auto logprob_of = [&](TokenId token) {
    return model::cpu::target_logprob(logits[static_cast<std::size_t>(token)], inverse, normaliser);
  };
  if (greedy) {
    const auto best = static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
    return SampledToken{.token = best, .logprob = logprob_of(best)};
  }
  std::vector<float> probabilities(logits.begin(), logits.end());
  kernel.probabilities(probabilities.data(), count, inverse, normaliser);
  std::vector<Candidate> candidates(logits.size());
  for (std::size_t i = 0; i < candidates.size(); ++i)
    candidates[i] = {.token = static_cast<TokenId>(i), .probability = probabilities[i]};
  keep_top_k(candidates, static_cast<std::size_t>(params.top_k));
  if (params.top_p < 1) keep_top_p(candidates, params.top_p);
  const TokenId token = draw(candidates, Rng(seed, "rollout.token", position).uniform());
  return SampledToken{.token = token, .logprob = logprob_of(token)};
}

}  // namespace tritonsmith::generate::engine
