// Turns: in which order the programs of a grid are started. Any order is one walk with a fixed step
// round the grid, so that nothing need be kept for grids of millions.
#pragma once

#include <array>
#include <cstdint>

#include "gym/language/program_order.h"

namespace tritonsmith::gym::triton_ir {

class ProgramScheduler {
 public:
  ProgramScheduler(const std::array<std::int64_t, 3>& grid, const language::ProgramOrder& order);

  bool over() const { return left_ == 0; }
  void next();
  // Of the whole grid, x first.
  std::uint64_t index() const { return index_; }
  std::array<std::int64_t, 3> program() const;

 private:
  std::array<std::uint64_t, 3> grid_ = {};
  std::uint64_t count_ = 0, left_ = 0, index_ = 0, step_ = 1;
};

}  // namespace tritonsmith::gym::triton_ir
