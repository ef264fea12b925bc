// The evaluator of Triton IR: runs a kernel on the CPU, without torch and without a GPU, from the
// text that capture hands over. parse_ttir lowers the kernel once to a flat program over registers;
// evaluate runs it for every program of a grid, in any order one asks for, on one thread. Numbers
// are rounded as the IR's types say, TF32 included, so that what fails on the chip for lack of
// precision fails here. Pointers are a buffer and an offset: every access is checked, and none
// outside its buffer ever happens.
//
// Both the text and the launch are hostile data. Malformed text is an Error; IR that is well formed
// but holds an operation we lack is a program that says so (refusal), and evaluating it reports
// `not_evaluable`. Everything a kernel does wrong is in the LaunchReport.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gym/triton_ir/program/launch.h"

namespace tritonsmith::gym::triton_ir {

struct Code;  // program/code.h

// A lowered kernel. Immutable; may be evaluated any number of times, also from several threads.
class KernelProgram {
 public:
  explicit KernelProgram(std::unique_ptr<const Code> code);
  KernelProgram(KernelProgram&&) noexcept;
  KernelProgram& operator=(KernelProgram&&) noexcept;
  ~KernelProgram();

  const std::string& name() const;
  // Types of the kernel's arguments, in order.
  const std::vector<ValueType>& arguments() const;
  const std::optional<Refusal>& refusal() const;
  // Bytes of registers that an evaluation takes.
  std::size_t register_bytes() const;
  // Bytes that the program itself takes, approximately.
  std::size_t code_bytes() const;
  const Code& code() const { return *code_; }

 private:
  std::unique_ptr<const Code> code_;
};

// The kernel of `text`: its one public function (of several, the first).
Result<KernelProgram> parse_ttir(std::string_view text);

LaunchReport evaluate(const KernelProgram& program, const Launch& launch,
                      const Budget& budget = {});

}  // namespace tritonsmith::gym::triton_ir
