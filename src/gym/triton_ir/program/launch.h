// Describes a launch of a kernel as the evaluator sees it, and the report about it: buffers,
// arguments, budget, violations. The launch is hostile data. The LaunchReport holds everything that
// a kernel does wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/enum_names.h"
#include "gym/language/program_order.h"
#include "gym/language/result_rounding.h"
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

// The reason why a kernel cannot be evaluated. It is no fault of the candidate.
struct Refusal {
  std::string operation;  // "tt.elementwise_inline_asm"
  std::string message;    // one sentence
  SourceLine at;
};

// One storage that the kernel may touch. Several arguments may point into it.
struct Buffer {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int tensor = -1;                // the caller's index, repeated in reports
  std::string_view name = {};     // what messages call it; empty: its index
  std::size_t element_bytes = 1;  // of the tensor: reports count in elements
  // If not empty: one byte for each element, which a write sets to 1. Nothing clears it.
  std::span<std::uint8_t> written = {};
};

struct PointerArgument {
  int buffer = 0;  // index into Launch::buffers
  std::int64_t byte_offset = 0;
};
using LaunchArgument = std::variant<PointerArgument, std::int64_t, double>;

struct Launch {
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<Buffer> buffers;
  // One for each argument of the IR, in order. Integers take integers (1 and 0 for i1), and floats
  // take doubles. A tensor descriptor takes a pointer to its base. Its shape and strides are
  // separate arguments that follow it.
  std::vector<LaunchArgument> arguments;
  language::ProgramOrder order = {};
  language::ResultRounding rounding = {};
};

// The limits of an evaluation. An op-element is one element of one operation's result. A reduction
// or a store counts its input instead, and a dot counts M*N*K/8. Each program costs 16 more. One
// core evaluates 100 to 1,000 million op-elements per second.
struct Budget {
  std::uint64_t op_elements = 1'000'000'000;
  Deadline deadline = Deadline::never();
  std::size_t register_bytes = std::size_t{1} << 30;
  std::size_t table_bytes = std::size_t{1} << 32;  // 8 bytes for each element that is written
  // The most programs that a GPU runs at once. If so many wait, none of the others ever starts there.
  std::size_t resident_programs = ~std::size_t{0};
};

enum class LaunchStatus {
  completed,
  // An access was outside its buffer or misaligned. `violations` has the positions.
  out_of_bounds,
  // tl.device_assert failed, or a hint is false. `violations` has the position.
  assertion_failed,
  too_large_to_evaluate,  // the budget ran out
  // More programs wait for one that has not started than a GPU runs at once.
  waits_for_ever,
  not_evaluable,  // the refusal says why
  bad_launch,     // grid, buffers or arguments do not fit the kernel
};
}  // namespace tritonsmith::gym::triton_ir

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::triton_ir::LaunchStatus> =
    names<gym::triton_ir::LaunchStatus>(
        {{gym::triton_ir::LaunchStatus::completed, "completed"},
         {gym::triton_ir::LaunchStatus::out_of_bounds, "out_of_bounds"},
         {gym::triton_ir::LaunchStatus::assertion_failed, "assertion_failed"},
         {gym::triton_ir::LaunchStatus::too_large_to_evaluate, "too_large_to_evaluate"},
         {gym::triton_ir::LaunchStatus::waits_for_ever, "waits_for_ever"},
         {gym::triton_ir::LaunchStatus::not_evaluable, "not_evaluable"},
         {gym::triton_ir::LaunchStatus::bad_launch, "bad_launch"}});
}  // namespace tritonsmith

namespace tritonsmith::gym::triton_ir {

enum class ViolationKind { load, store, atomic, misaligned, assertion, hint };

// The first violation of one operation.
struct Violation {
  ViolationKind kind = ViolationKind::load;
  int tensor = -1;               // Buffer::tensor; -1: the address lies in no buffer
  std::int64_t byte_offset = 0;  // from the buffer's first byte
  std::int64_t element = 0;      // byte_offset / element_bytes, rounded down
  std::array<std::int64_t, 3> program = {};
  SourceLine at;
  std::uint64_t times = 0;  // elements with which this operation did so
  // The position of an access out of bounds: "past `x` at line 7 (element 20 of 20, program (2, 0,
  // 0))".
  std::string where;
  // All of this in words: "reads 4 elements past `x` at line 7 (...)". It exists at the launch's end.
  std::string message;
};

// Two programs of one launch wrote the same element without atomics, and no atomics put them in
// order. With different bits the result depends on chance (conflicting). With equal bits the second
// write is superfluous.
struct DoubleWrite {
  int tensor = -1;
  std::int64_t element = 0;                  // the first one
  std::array<std::int64_t, 3> program = {};  // the second writer
  SourceLine at;
  std::uint64_t elements = 0;     // in this buffer, in total
  std::uint64_t conflicting = 0;  // those with different bits
};

// One program of a launch read an element that another wrote, before or after, or wrote an element
// that another changed atomically. No atomics put the two in order. A GPU runs programs in any
// order, so the value that the program saw depends on chance.
struct SharedElement {
  int tensor = -1;
  std::int64_t element = 0;                  // the first one
  std::array<std::int64_t, 3> program = {};  // the second of the two
  SourceLine at;
  std::uint64_t elements = 0;  // in this buffer, in total
};

// Elements that a hint calls equal, and that differ.
struct FalseHint {
  std::string message;  // one sentence or two
  SourceLine at;
};

struct LaunchReport {
  LaunchStatus status = LaunchStatus::completed;
  std::string message;                         // why it did not complete; else empty
  SourceLine at;                               // the line that the message is about
  std::vector<Violation> violations;           // at most 8
  std::vector<DoubleWrite> double_writes;      // at most one for each buffer
  std::vector<SharedElement> shared_elements;  // likewise
  // Accesses that may be no fault. A program read an element beside others' atomics, or wrote an
  // element that several had read after it had waited for another program.
  std::vector<SharedElement> unclear_elements;
  std::vector<FalseHint> false_hints;  // at most 8
  // The number of different elements that this launch wrote, by buffer.
  std::vector<std::uint64_t> elements_written;
  std::uint64_t op_elements = 0;  // the cost of the evaluation
};

}  // namespace tritonsmith::gym::triton_ir
