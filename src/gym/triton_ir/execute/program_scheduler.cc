#include "gym/triton_ir/execute/program_scheduler.h"

#include <numeric>

#include "base/rng.h"

namespace tritonsmith::gym::triton_ir {

ProgramScheduler::ProgramScheduler(const std::array<std::int64_t, 3>& grid,
                                   const language::ProgramOrder& order) {
  for (std::size_t axis = 0; axis < 3; ++axis) grid_[axis] = static_cast<std::uint64_t>(grid[axis]);
  count_ = left_ = grid_[0] * grid_[1] * grid_[2];  // below 2^63
  if (count_ == 0) return;
  if (order.kind == language::ProgramOrder::Kind::backwards) index_ = step_ = count_ - 1;
  if (order.kind == language::ProgramOrder::Kind::interleaved ||
      order.kind == language::ProgramOrder::Kind::shuffled) {
    Rng rng(order.seed, "turns", 0);
    index_ = rng.below(count_);
    step_ = rng.below(count_);
    while (std::gcd(step_, count_) != 1) step_ = (step_ + 1) % count_;
  }
}

void ProgramScheduler::next() {
  --left_;
  index_ += step_;
  if (index_ >= count_) index_ -= count_;
}

std::array<std::int64_t, 3> ProgramScheduler::program() const {
  const std::uint64_t rows = index_ / grid_[0];
  return {static_cast<std::int64_t>(index_ % grid_[0]), static_cast<std::int64_t>(rows % grid_[1]),
          static_cast<std::int64_t>(rows / grid_[1])};
}

}  // namespace tritonsmith::gym::triton_ir
