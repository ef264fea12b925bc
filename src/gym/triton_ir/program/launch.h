// A launch of a kernel as the evaluator sees it, and the report of what it did: buffers, arguments,
// budget, violations. The launch is hostile data; everything a kernel does wrong is in the
// LaunchReport.
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
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

// Why a kernel cannot be evaluated here. No fault of the candidate's.
struct Refusal {
  std::string operation;  // "tt.elementwise_inline_asm"
  std::string message;    // one sentence
  SourceLine at;
};

// Memory that the kernel may touch: one storage. Several arguments may point into it.
struct Buffer {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int tensor = -1;                // the caller's index, comes back in reports
  std::size_t element_bytes = 1;  // of the tensor: reports count in these
  // If not empty: one byte for each element, set to 1 when it is written, never cleared.
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
  // One for each argument of the IR, in order: integers for integers (1 and 0 for i1), doubles for
  // floats. A tensor descriptor takes a pointer to its base; its shape and strides are arguments of
  // their own, which follow it.
  std::vector<LaunchArgument> arguments;
  language::ProgramOrder order = {};
};

// How much an evaluation may cost. An op-element is one element of one operation's result (a
// reduction's or store's input; a dot's M*N*K/8); a program costs 16 more. One core does 100 to
// 1,000 million of them in a second.
struct Budget {
  std::uint64_t op_elements = 1'000'000'000;
  Deadline deadline = Deadline::never();
  std::size_t register_bytes = std::size_t{1} << 30;
  std::size_t table_bytes = std::size_t{1} << 32;  // 8 for each element that is written
};

enum class LaunchStatus {
  completed,
  out_of_bounds,          // an access outside its buffer, or misaligned: violations has the places
  assertion_failed,       // tl.device_assert; violations has the place
  too_large_to_evaluate,  // the budget ran out
  not_evaluable,          // the refusal says why
  bad_launch,             // grid, buffers or arguments do not fit the kernel
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
         {gym::triton_ir::LaunchStatus::not_evaluable, "not_evaluable"},
         {gym::triton_ir::LaunchStatus::bad_launch, "bad_launch"}});
}  // namespace tritonsmith

namespace tritonsmith::gym::triton_ir {

enum class ViolationKind { load, store, atomic, misaligned, assertion };

// The first violation of one operation.
struct Violation {
  ViolationKind kind = ViolationKind::load;
  int tensor = -1;               // Buffer::tensor; -1: the address lies in no buffer
  std::int64_t byte_offset = 0;  // from the buffer's first byte
  std::int64_t element = 0;      // byte_offset / element_bytes, rounded down
  std::array<std::int64_t, 3> program = {};
  SourceLine at;
  std::uint64_t times = 0;  // elements that this operation did so with
  std::string message;      // one sentence with all of it
};

// Two programs of one launch wrote the same element without atomics, and no atomics put them in
// order. With different bits the result
// depends on chance (conflicting); with equal bits it is work done twice.
struct DoubleWrite {
  int tensor = -1;
  std::int64_t element = 0;                  // the first
  std::array<std::int64_t, 3> program = {};  // the second writer
  SourceLine at;
  std::uint64_t elements = 0;     // in this buffer, all of them
  std::uint64_t conflicting = 0;  // of those, with different bits
};

// One program of a launch read what another wrote, before or after, or wrote what another changed
// atomically, and no atomics put the two in order: on the chip programs run in any order, so which
// value it saw is chance.
struct SharedElement {
  int tensor = -1;
  std::int64_t element = 0;                  // the first
  std::array<std::int64_t, 3> program = {};  // the one that came second
  SourceLine at;
  std::uint64_t elements = 0;  // in this buffer, all of them
};

struct LaunchReport {
  LaunchStatus status = LaunchStatus::completed;
  std::string message;                         // why not completed; else empty
  SourceLine at;                               // the line that the message speaks of
  std::vector<Violation> violations;           // at most 8
  std::vector<DoubleWrite> double_writes;      // at most one for each buffer
  std::vector<SharedElement> shared_elements;  // likewise
  // Perhaps no fault: read beside atomics of others, or written after several read it where the
  // writer had waited for somebody.
  std::vector<SharedElement> unclear_elements;
  std::vector<std::uint64_t>
      elements_written;           // by buffer: different elements that this launch wrote
  std::uint64_t op_elements = 0;  // what it cost
};

}  // namespace tritonsmith::gym::triton_ir
