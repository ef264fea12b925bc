#include "gym/trial/perturb/named_elements.h"

#include <vector>

#include "gym/trial/perturb/element_moves.h"
#include "gym/trial/perturb/named_values.h"

namespace tritonsmith::gym::trial {

NamedElements::NamedElements(const at::Tensor& tensor, const device::pattern::Ends& ends,
                             std::uint64_t seed, const Rows* rows)
    : tensor_(tensor), rows_(rows), rng_(seed, "places", 0) {
  if (tensor.numel() < 16) return;
  // The last dimension comes first, because its rows are the ones that a reduction most often takes.
  // If there are few rows, one trial gives the first row to the last index, and another trial gives it
  // to the middle one.
  for (std::int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    const bool has_middle = tensor.size(dim) > 2;
    if (has_middle && ends.middle_first) add_pairs(dim, tensor.size(dim) / 2, ends.reach);
    if (tensor.size(dim) > 1) add_pairs(dim, tensor.size(dim) - 1, ends.reach);
    if (has_middle && !ends.middle_first) add_pairs(dim, tensor.size(dim) / 2, ends.reach);
  }
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) <= 2) continue;
    for (const std::int64_t index : indices_beside(ends.positions, tensor.size(dim)))
      add_pairs(dim, index, ends.reach);
  }
  std::vector<std::int64_t> at;
  std::vector<double> by;
  for (const auto& [position, move] : moves_) {
    at.push_back(position);
    by.push_back(move);
  }
  if (at.empty()) return;
  at_ = at::tensor(at, at::kLong).to(tensor.device());
  moved_ = tensor.view({-1}).index_select(0, at_) +
           at::tensor(by, at::kDouble).to(tensor.device(), tensor.scalar_type());
}

void NamedElements::move() {
  if (at_.defined()) tensor_.view({-1}).index_copy_(0, at_, moved_);
}

void NamedElements::add_pairs(std::int64_t dim, std::int64_t index, double reach) {
  for (const double sign : {1.0, -1.0}) {
    add(dim, index, sign * (2.5 + 0.5 * rng_.uniform()) * reach, sign > 0 ? highest_ : lowest_);
    add(dim, index, sign * (0.2 + 0.6 * rng_.uniform()) * reach, smaller_);
  }
}

void NamedElements::add(std::int64_t dim, std::int64_t index, double by,
                        std::set<std::int64_t>& taken) {
  constexpr int most_tries = 32;
  constexpr double beside = 0.6;
  const std::int64_t count = tensor_.numel(), stride = tensor_.stride(dim);
  for (int tries = 1; tries <= most_tries; ++tries) {
    const std::int64_t any = random_position(count, rng_);
    const std::int64_t position = any + (index - any / stride % tensor_.size(dim)) * stride;
    const std::int64_t row = position / tensor_.size(-1);
    const bool is_free = !taken.contains(row) && (rows_ == nullptr || !rows_->is_kept(row));
    if (!is_free && tries < most_tries) continue;
    // Beside another one in its row it is smaller, and does not hide it.
    if (!moves_.emplace(position, is_free ? by : by * beside).second) continue;
    taken.insert(row);
    return;
  }
}

}  // namespace tritonsmith::gym::trial
