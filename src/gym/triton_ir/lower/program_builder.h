// ProgramBuilder: collects instructions over any number of registers, then gives each register an
// offset in the arena. Two registers share an offset if they are never alive together. Jumps go to
// labels.
#pragma once

#include <map>
#include <memory>

#include "gym/triton_ir/program/code.h"

namespace tritonsmith::gym::triton_ir {

using Register = std::uint32_t;

class ProgramBuilder {
 public:
  ProgramBuilder() : code_(std::make_unique<Code>()) {}
  Code& code() { return *code_; }

  // Makes a new register of `count` elements of `bytes` each. A pinned register keeps its offset
  // through all programs.
  Register make(std::size_t count, std::size_t bytes);
  Register make_pinned(std::size_t count, std::size_t bytes);

  // Adds an instruction that fills a pinned register once for each evaluation.
  Instruction& emit_setup(Handler handler, Register output, std::size_t count);
  Instruction& emit(Handler handler, Register output, std::initializer_list<Register> inputs,
                    std::size_t count);
  // Returns the one of the last few instructions that wrote the register, or null.
  Instruction* last_writer(Register output);
  int add_table(std::vector<std::int64_t> numbers);

  using Label = std::int64_t;
  Label make_label();
  void bind(Label label);
  // The handler must set Machine::next to the immediate, which becomes the label's position.
  Instruction& jump(Handler handler, Label label, std::initializer_list<Register> inputs = {});

  std::size_t instructions() const { return code_->instructions.size(); }
  // Sets the source location of the following instructions.
  void set_location(int location) { location_ = location; }

  // Returns the code with all offsets and jumps resolved.
  Result<std::unique_ptr<const Code>> finish();

 private:
  struct Lifetime {
    std::size_t bytes = 0;
    std::int64_t first = -1, last = -1;  // indices of instructions
    bool pinned = false;
    std::uint32_t offset = 0;
  };
  void resolve_jumps();
  void measure_lifetimes();
  Status stretch_over_loops();
  void assign_offsets();
  void rewrite(Instruction& instruction) const;

  std::unique_ptr<Code> code_;
  std::vector<Lifetime> registers_;
  std::vector<std::int64_t> labels_;  // index of the instruction, by label
  std::vector<std::size_t> jumps_;    // instructions whose immediate is a label
  int location_ = 0;
};

}  // namespace tritonsmith::gym::triton_ir
