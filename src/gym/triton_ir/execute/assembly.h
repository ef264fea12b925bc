// Assembly: inline PTX of a kernel (tl.inline_asm_elementwise), evaluated as what it computes. Only
// instructions that have no place in Triton's language are known: conversions between number
// formats, approximations, packed 16-bit arithmetic, dp4a, and the operations that go with them.
// There are no memory accesses and no branches, so a block is a pure function of its operands.
// assembly_instructions.cc lists the instructions. gym/language/triton/guest/assembly.py has their
// names for the compiler.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith::gym::triton_ir {

// A PTX instruction on raw bits. `in` holds up to four operands, and absent ones are 0.
using AssemblyFunction = std::uint64_t (*)(const std::array<std::uint64_t, 4>& in);

struct AssemblyInstruction {
  AssemblyFunction function = nullptr;
  int operands = 0;
};

// Finds an instruction by its whole name, such as "cvt.rn.f16x2.e4m3x2". Null for an unknown name.
const AssemblyInstruction* find_assembly_instruction(std::string_view name);

// A parsed block. It is immutable and may be run by several evaluations at a time.
class AssemblyBlock {
 public:
  // `constraints` is the operation's text, such as "=r,=r,r,f": the results, then the operands.
  static Result<AssemblyBlock> parse(std::string_view text, std::string_view constraints);

  std::size_t results() const { return results_; }
  std::size_t operands() const { return operands_; }
  std::size_t register_count() const { return bits_.size(); }
  std::size_t bytes() const;  // of memory

  // `registers` has register_count() elements. The operands stand behind the results, and all others
  // are 0.
  void run(std::span<std::uint64_t> registers) const;

  struct Operand {
    int reg = -1;  // a register; -1: the number
    std::uint64_t number = 0;
  };
  // The instruction runs only where this register of one bit holds the value.
  struct Predicate {
    int reg = -1;  // -1: it always runs
    bool value = true;
  };
  // One instruction. A mov may join several registers into one, or split one into several.
  struct Step {
    Predicate predicate;
    AssemblyFunction function = nullptr;  // null: joins its inputs and splits the bits
    std::vector<int> outputs;
    std::vector<Operand> inputs;
  };

 private:
  friend class AssemblyParser;
  std::size_t results_ = 0, operands_ = 0;
  std::vector<int> bits_;  // the width of each register
  std::vector<Step> steps_;
};

}  // namespace tritonsmith::gym::triton_ir
