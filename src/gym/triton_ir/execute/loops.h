// Runs the loops of elementwise handlers. The function is a template argument, so that the compiler
// inlines it and vectorises the loop. Registers never overlap (ProgramBuilder), so restrict holds.
#pragma once

#include "gym/triton_ir/execute/machine.h"

namespace tritonsmith::gym::triton_ir {

template <typename T, auto function, typename Out = T>
void unary(Machine& machine, const Instruction& instruction) {
  Out* __restrict out = machine.output<Out>(instruction);
  const T* __restrict a = machine.input<T>(instruction, 0);
  const std::uint32_t count = instruction.count;
  for (std::uint32_t k = 0; k < count; ++k) out[k] = static_cast<Out>(function(a[k]));
}

template <typename T, auto function, typename Out = T>
void binary(Machine& machine, const Instruction& instruction) {
  Out* __restrict out = machine.output<Out>(instruction);
  const T* a = machine.input<T>(instruction, 0);
  const T* b = machine.input<T>(instruction, 1);
  const std::uint32_t count = instruction.count;
  for (std::uint32_t k = 0; k < count; ++k) out[k] = static_cast<Out>(function(a[k], b[k]));
}

template <typename T, auto function>
void ternary(Machine& machine, const Instruction& instruction) {
  T* __restrict out = machine.output<T>(instruction);
  const T* a = machine.input<T>(instruction, 0);
  const T* b = machine.input<T>(instruction, 1);
  const T* c = machine.input<T>(instruction, 2);
  const std::uint32_t count = instruction.count;
  for (std::uint32_t k = 0; k < count; ++k) out[k] = function(a[k], b[k], c[k]);
}

}  // namespace tritonsmith::gym::triton_ir
