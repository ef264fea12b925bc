// The program scheduler: it gives the order in which the programs of a grid start. Every order is a
// walk with a fixed step around the grid, so that no list is needed for grids of millions.
#pragma once

#include <array>
#include <cstdint>

#include "gym/language/program_order.h"

namespace tritonsmith::gym::triton_ir {

class ProgramScheduler {
 public:
  ProgramScheduler(const std::array<std::int64_t, 3>& grid, const language::ProgramOrder& order);

  bool over() const { return left_ == 0; }
  bool is_last() const { return left_ == 1; }
  void next();
  // The program's index in the whole grid, x first.
  std::uint64_t index() const { return index_; }
  std::array<std::int64_t, 3> program() const;

 private:
  std::array<std::uint64_t, 3> grid_ = {};
  std::uint64_t count_ = 0, left_ = 0, index_ = 0, step_ = 1;
};

}  // namespace tritonsmith::gym::triton_ir
