// Code: the lowered form of a kernel. Registers are ranges of one block of memory, the arena. An
// instruction is a handler, the offsets of its operands and a count of elements. Setup instructions
// fill constants once for each evaluation. The others run once for each program of the grid.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gym/triton_ir/program/launch.h"

namespace tritonsmith::gym::triton_ir {

struct Machine;
class AssemblyBlock;
struct Instruction;
using Handler = void (*)(Machine&, const Instruction&);

// Returns the handler for elements of so many bytes.
constexpr Handler by_bytes(std::size_t bytes, Handler one, Handler two, Handler four,
                           Handler eight) {
  return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : eight;
}

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;  // a missing operand

struct Instruction {
  Handler handler = nullptr;
  // Registers while lowering; byte offsets into the arena afterwards.
  std::uint32_t output = kNone;
  std::array<std::uint32_t, 3> inputs = {kNone, kNone, kNone};
  std::uint32_t count = 1;     // elements
  std::uint32_t cost = 1;      // op-elements
  std::int32_t location = 0;   // index into Code::locations
  std::int32_t table = -1;     // index into Code::tables
  std::int64_t immediate = 0;  // a jump's target, an axis or a bit pattern, by the handler
  // The fp32 or fp64 elements of the output that another rounding changes (Launch::rounding), and the
  // bytes of each. 0: none. All that is loaded is rounded to one grid, so that equal numbers stay equal.
  // Each result of arithmetic is rounded to a grid of its own.
  std::uint32_t rounded = 0, rounded_bytes = 0;
  bool is_loaded = false;
};

// The order that an atomic imposes on other accesses. within_program is scope "cta": the operation
// is atomic only for its own program, and a plain read and write for all others.
enum class MemoryOrder : std::int64_t { relaxed, acquire, release, both, within_program };

// The atomics of a kernel. scalars: only of single elements, on which programs wait. blocks: also
// of whole blocks.
enum class Atomics { none, scalars, blocks };

struct Parameter {
  ValueType type;
  std::int64_t divisor = 1;  // the code assumes that the argument is a multiple of it
  std::uint32_t offset = 0;
};

struct Code {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<ValueType> argument_types;
  std::vector<Instruction> setup;
  std::vector<Instruction> instructions;
  std::vector<std::vector<std::int64_t>> tables;  // shapes, strides and other lists of numbers
  std::vector<std::string> texts;                 // messages of assertions
  std::vector<std::shared_ptr<const AssemblyBlock>> assembly;  // inline assembly
  std::vector<SourceLine> locations;
  Atomics atomics = Atomics::none;
  std::size_t arena_bytes = 0;
  std::optional<Refusal> refusal;
};

}  // namespace tritonsmith::gym::triton_ir
