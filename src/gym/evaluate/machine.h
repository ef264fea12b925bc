// Machine: the state of one evaluation, which the handlers of instructions work on. Lives on
// evaluate's stack.
#pragma once

#include "gym/evaluate/code.h"
#include "gym/evaluate/memory.h"

namespace tritonsmith::gym {

struct Machine {
  std::byte* arena = nullptr;
  const Code* code = nullptr;
  Memory* memory = nullptr;
  std::size_t next = 0;  // index of the instruction to run after this one
  std::array<std::int64_t, 3> program = {};
  std::array<std::int64_t, 3> grid = {};

  template <typename T>
  T* at(std::uint32_t place) const {
    return reinterpret_cast<T*>(arena + place);
  }
  template <typename T>
  T* output(const Instruction& instruction) const {
    return at<T>(instruction.output);
  }
  template <typename T>
  const T* input(const Instruction& instruction, std::size_t which) const {
    return at<T>(instruction.inputs[which]);
  }
  const std::vector<std::int64_t>& table(const Instruction& instruction) const {
    return code->tables[static_cast<std::size_t>(instruction.table)];
  }
};

}  // namespace tritonsmith::gym
