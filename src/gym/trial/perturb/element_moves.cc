#include "gym/trial/perturb/element_moves.h"

#include <algorithm>

namespace tritonsmith::gym::trial {

void ElementMoves::make(at::Tensor& all) const {
  if (at_.empty()) return;
  const at::Tensor at = at::tensor(at_, at::kLong).to(all.device());
  const at::Tensor by = at::tensor(by_, at::kFloat).to(all.device());
  all.index_copy_(0, at, all.index_select(0, at) + by.to(all.scalar_type()));
}

std::int64_t random_position(std::int64_t below, Rng& rng) {
  return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(below)));
}

void move_some_elements(std::int64_t size, double reach, Rng& rng, ElementMoves& moves) {
  constexpr std::int64_t least = 4, most = 4096, one_in = 4096;
  const std::int64_t count = std::min(size / 8, std::clamp(size / one_in, least, most));
  for (std::int64_t nth = 0; nth < count; ++nth) {
    const double far = nth % 4 < 2 ? 1 + rng.uniform() : 0.2 + 0.6 * rng.uniform();
    moves.add(random_position(size, rng), (nth % 2 == 0 ? far : -far) * reach);
  }
}

void move_one_in_each(std::span<const std::int64_t> rows, std::int64_t length, double reach,
                      Rng& rng, ElementMoves& moves) {
  const std::int64_t from = random_position(length, rng), count = std::ssize(rows);
  for (std::int64_t nth = 0; nth < count; ++nth)
    moves.add(rows[static_cast<std::size_t>(nth)] * length + (from + nth * length / count) % length,
              reach * (1 + rng.uniform()));
}

}  // namespace tritonsmith::gym::trial
