// ResultRounding: where an executor rounds the results of a kernel's arithmetic. Usually each result is
// the nearest number of its type. An executor that evaluates kernels may round to a coarser grid instead,
// as an arithmetic of fewer digits does. So the referee measures how much a kernel's outputs depend on
// rounding.
#pragma once

#include <cstdint>

namespace tritonsmith::gym::language {

struct ResultRounding {
  // So many neighbouring numbers become one of them: a power of two.
  std::uint32_t width = 1;
  std::uint32_t round = 0;  // decides where the grids lie
  bool is_usual() const { return width <= 1; }
};

}  // namespace tritonsmith::gym::language
