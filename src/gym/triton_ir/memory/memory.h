// Memory: the buffers of one launch, as the kernel sees them. A kernel's pointer is a number. Its
// high bits name a buffer, and its low bits are the distance from the buffer's first byte. So
// arithmetic on pointers is plain addition, and an access is checked against the buffer of its
// pointer. A pointer reaches another buffer only with an offset of at least 8 TiB, and then that
// buffer's bounds hold.
#pragma once

#include <vector>

#include "gym/triton_ir/memory/area.h"
#include "gym/triton_ir/memory/program_epoch.h"
#include "gym/triton_ir/memory/violations.h"
#include "gym/triton_ir/program/code.h"

namespace tritonsmith::gym::triton_ir {

class Memory {
 public:
  Memory(const Launch& launch, std::size_t table_bytes, LaunchReport& report);

  static std::int64_t address(int buffer, std::int64_t byte_offset) {
    return ((static_cast<std::int64_t>(buffer) + 1) << kShift) + kMiddle + byte_offset;
  }

  // Returns the bytes that an access may touch, or null after it reported a violation.
  std::byte* reach(std::int64_t address, std::size_t bytes, ViolationKind kind,
                   const Instruction& instruction) {
    auto slot = static_cast<std::uint64_t>(address >> kShift) - 1;
    if (slot < buffers_.size()) [[likely]] {
      const Area& area = buffers_[slot];
      auto offset = static_cast<std::uint64_t>(address - area.first);
      if (offset < area.bytes && area.bytes - offset >= bytes && (offset & (bytes - 1)) == 0)
          [[likely]]
        return area.data + offset;
    }
    violate(address, bytes, kind, instruction);
    return nullptr;
  }

  // Returns `count` consecutive elements of `bytes` each from `address` on, if all lie in one
  // buffer. Otherwise it returns null and reports nothing.
  std::byte* reach_run(std::int64_t address, std::size_t bytes, std::size_t count) const {
    auto slot = static_cast<std::uint64_t>(address >> kShift) - 1;
    if (slot >= buffers_.size()) return nullptr;
    const Area& area = buffers_[slot];
    auto offset = static_cast<std::uint64_t>(address - area.first);
    bool inside = offset < area.bytes && (area.bytes - offset) / bytes >= count;
    return inside && (offset & (bytes - 1)) == 0 ? area.data + offset : nullptr;
  }

  // Announces a read of `count` elements of `bytes` each from `address`, checked by reach().
  void will_read(std::int64_t address, std::size_t bytes, std::size_t count,
                 const Instruction& instruction) {
    Area& area = *area_of(address);
    if (instruction.count == 1) polled_ = {area.data + (address - area.first), bytes};
    if (area.writers != nullptr) [[unlikely]]
      note_reads(area, address, bytes * count, instruction);
  }

  // The caller announces that the bytes at `target`, from reach(), become `value`.
  void will_write(const std::byte* target, const void* value, std::int64_t address,
                  std::size_t bytes, const Instruction& instruction);
  // Does reach_run and will_write for a whole run, if no other program wrote or read any of it.
  // Otherwise it returns false and does nothing.
  bool claim_run(std::int64_t address, std::size_t bytes, std::size_t count);
  // These enclose the elements of one atomic instruction. The first lies at `address`.
  void begin_atomic(std::int64_t address, MemoryOrder order);
  void will_change_atomically(std::int64_t address, std::size_t bytes,
                              const Instruction& instruction);
  void end_atomic(std::int64_t address, MemoryOrder order);

  void start_program(std::array<std::int64_t, 3> program, std::uint64_t index);
  // The scalar that a program read last, with its value. A program that waits reads the same one
  // again and again.
  struct Polled {
    const std::byte* address = nullptr;
    std::size_t bytes = 0;
    bool operator==(const Polled&) const = default;
    std::uint64_t value() const;
  };
  // The state of a suspended program, until it resumes.
  struct SuspendedProgram {
    std::array<std::int64_t, 3> program = {};
    ProgramEpoch::Suspended epoch;
    Polled polled;
  };
  SuspendedProgram leave_program();
  void resume_program(SuspendedProgram suspended);
  // Reports a violation at the instruction's line. The message says all but where it was.
  void fail(ViolationKind kind, const Instruction& instruction, const std::string& message);
  // Reports a hint that is false, and does no harm unless a wrong element is used.
  void note_false_hint(const Instruction& instruction, const std::string& message);
  void bind(const Code& code);
  bool violated() const { return violations_.any(); }
  // Tells whether the tables about elements take more bytes than the launch may use.
  bool too_large() const { return table_bytes_ > max_table_bytes_; }
  // Writes the counts of written elements and the messages of violations into the report.
  void finish();

 private:
  static constexpr int kShift = 44;
  static constexpr std::int64_t kMiddle = std::int64_t{1} << (kShift - 1);

  enum class Clarity { race, unclear };
  void violate(std::int64_t address, std::size_t bytes, ViolationKind kind,
               const Instruction& instruction);
  void note_double_write(Area& area, std::int64_t element, bool conflicting,
                         const Instruction& instruction);
  void note_reads(Area& area, std::int64_t address, std::size_t bytes,
                  const Instruction& instruction);
  void note_shared(Area& area, std::uint64_t element, Clarity clarity,
                   const Instruction& instruction);
  void check_readers(Area& area, std::uint64_t element, const Instruction& instruction);
  Area* area_of(std::int64_t address) {
    auto slot = static_cast<std::uint64_t>(address >> kShift) - 1;
    return slot < buffers_.size() ? &buffers_[slot] : nullptr;
  }

  const Launch& launch_;
  LaunchReport& report_;
  const Code* code_ = nullptr;
  std::vector<Area> buffers_;
  std::array<std::int64_t, 3> program_ = {};
  ProgramEpoch epoch_;
  Polled polled_;
  std::size_t table_bytes_ = 0, max_table_bytes_ = 0;
  Violations violations_;
};

}  // namespace tritonsmith::gym::triton_ir
