// Chooses the rows of a tensor that a perturbation changes, each kind of change in rows of its own.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace tritonsmith::gym::trial {

// Rows of each kind lie at every `period`th position. The period is odd to programs, which often
// take a power of two of them. With few rows it is their number, so that each kind finds one.
class Rows {
 public:
  // A table with fewer rows lacks some kinds.
  static constexpr std::int64_t kFew = 8;

  Rows(const at::Tensor& rows, Rng& rng)
      : rows_(rows),
        period_(rows.size(0) < kFew
                    ? kFew
                    : std::min(rows.size(0), 11 + static_cast<std::int64_t>(rng.below(8)))),
        next_(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(period_)))) {}
  // Returns a view of the next kind's rows, which may be none.
  at::Tensor next() { return from(next_++ % period_); }
  // Returns the numbers of the next kind's rows.
  std::vector<std::int64_t> next_numbers() {
    std::vector<std::int64_t> numbers;
    for (std::int64_t row = next_++ % period_; row < rows_.size(0); row += period_)
      numbers.push_back(row);
    return numbers;
  }
  // The same for rows that only keep their meaning if no named element changes them.
  at::Tensor next_kept() {
    const std::int64_t first = next_++ % period_;
    kept_.push_back(first);
    return from(first);
  }
  bool is_kept(std::int64_t row) const {
    return std::ranges::find(kept_, row % period_) != kept_.end();
  }

 private:
  at::Tensor from(std::int64_t first) const {
    return rows_.slice(0, std::min(first, rows_.size(0)), rows_.size(0), period_);
  }

  at::Tensor rows_;
  std::int64_t period_, next_;
  std::vector<std::int64_t> kept_;
};

}  // namespace tritonsmith::gym::trial
