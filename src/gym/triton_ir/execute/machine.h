// Machine: the state of one evaluation, on which handlers work. It lives on evaluate's stack.
#pragma once

#include <optional>

#include "gym/triton_ir/memory/hidden_stores.h"
#include "gym/triton_ir/memory/memory.h"
#include "gym/triton_ir/program/code.h"

namespace tritonsmith::gym::triton_ir {

struct Machine {
  std::byte* arena = nullptr;
  const Code* code = nullptr;
  Memory* memory = nullptr;
  std::size_t next = 0;  // index of the instruction to run after this one
  std::array<std::int64_t, 3> program = {};
  std::array<std::int64_t, 3> grid = {};
  std::optional<HiddenStores> hidden_stores;  // in the order `lanes_apart`
  void show_stores() {
    if (hidden_stores) hidden_stores->show_all();
  }
  bool lanes_backwards = false;  // of two lanes that store to one address, the first one wins

  // A program can be suspended and resumes at `resume` later. This happens when its loops have
  // iterated so often that it may be waiting, or before an atomic in the interleaved and the
  // shuffled order.
  static constexpr std::size_t kLeft = ~std::size_t{0};  // value of `next` in a suspended program
  std::size_t resume = 0;
  std::uint64_t passes = 0;                   // iterations left before the program is suspended
  std::uint64_t atomics = ~std::uint64_t{0};  // atomics left before the program is suspended
  void leave_at(std::size_t index) {
    resume = index;
    next = kLeft;
  }
  // An atomic asks this first: if true, the program was suspended and the atomic must not run.
  bool is_held_up() {
    if (atomics-- != 0) return false;
    leave_at(next - 1);
    return true;
  }

  template <typename T>
  T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(arena + offset);
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

}  // namespace tritonsmith::gym::triton_ir
