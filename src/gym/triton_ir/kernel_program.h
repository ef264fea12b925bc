// Runs a kernel on the CPU from its Triton IR, without torch and without a GPU. The capture hands
// over the IR's text. parse_ttir lowers it once to a flat program over registers. evaluate runs that
// for every program of a grid, in the requested order, on one thread. Numbers are rounded as the
// IR's types say, including TF32. So a kernel that lacks precision on a GPU fails here too. A pointer
// is a buffer and an offset. Every access is checked, and none outside its buffer happens.
//
// Both the text and the launch are hostile data. Malformed text is an Error. Well-formed IR with an
// unsupported operation gives a program with a refusal, and its evaluation reports `not_evaluable`.
// The LaunchReport holds everything that a kernel does wrong.
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

// A lowered kernel. It is immutable, and several threads may evaluate it any number of times.
class KernelProgram {
 public:
  explicit KernelProgram(std::unique_ptr<const Code> code);
  KernelProgram(KernelProgram&&) noexcept;
  KernelProgram& operator=(KernelProgram&&) noexcept;
  ~KernelProgram();

  const std::string& name() const;
  // Returns the types of the kernel's arguments, in order.
  const std::vector<ValueType>& arguments() const;
  const std::optional<Refusal>& refusal() const;
  // Returns the bytes of registers that one evaluation takes.
  std::size_t register_bytes() const;
  // Returns roughly the bytes that the program itself takes.
  std::size_t code_bytes() const;
  const Code& code() const { return *code_; }

 private:
  std::unique_ptr<const Code> code_;
};

// Parses the kernel of `text`, which is its first public function. Fails if the text is malformed.
Result<KernelProgram> parse_ttir(std::string_view text);

LaunchReport evaluate(const KernelProgram& program, const Launch& launch,
                      const Budget& budget = {});

}  // namespace tritonsmith::gym::triton_ir
