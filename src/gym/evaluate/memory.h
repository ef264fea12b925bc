// Memory: the buffers of one launch, as the kernel sees them. A kernel's pointer is a number whose
// high bits name a buffer and whose low bits are the distance from its first byte, so that
// arithmetic on pointers is plain addition and an access can be checked against the one buffer that
// its pointer came from. To reach another buffer, an offset of 8 TiB would be needed; and then that
// buffer's bounds hold.
#pragma once

#include "gym/evaluate/code.h"

namespace tritonsmith::gym {

class Memory {
 public:
  Memory(const Launch& launch, LaunchReport& report);

  static std::int64_t address(int buffer, std::int64_t byte_offset) {
    return ((static_cast<std::int64_t>(buffer) + 1) << kShift) + kMiddle + byte_offset;
  }

  // The bytes that an access may touch, or nothing, and then the violation is in the report.
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

  // `count` elements of `bytes` each, one after the other from `address` on, if all lie in one
  // buffer; else nothing, and nothing is reported.
  std::byte* reach_run(std::int64_t address, std::size_t bytes, std::size_t count) const {
    auto slot = static_cast<std::uint64_t>(address >> kShift) - 1;
    if (slot >= buffers_.size()) return nullptr;
    const Area& area = buffers_[slot];
    auto offset = static_cast<std::uint64_t>(address - area.first);
    bool inside = offset < area.bytes && (area.bytes - offset) / bytes >= count;
    return inside && (offset & (bytes - 1)) == 0 ? area.data + offset : nullptr;
  }

  // To be told before `count` elements of `bytes` each are read from `address` (from reach) on.
  void will_read(std::int64_t address, std::size_t bytes, std::size_t count,
                 const Instruction& instruction) {
    Area& area = *area_of(address);
    if (!area.writers.empty()) [[unlikely]]
      note_reads(area, address, bytes * count, instruction);
  }

  // To be told before the bytes at `target` (from reach) become `value`.
  void will_write(const std::byte* target, const void* value, std::int64_t address,
                  std::size_t bytes, const Instruction& instruction);
  // As reach_run and will_write for a whole run, if no other program wrote or read any of it; else
  // false,
  // and nothing happens.
  bool claim_run(std::int64_t address, std::size_t bytes, std::size_t count);
  void will_change_atomically(std::int64_t address, std::size_t bytes);

  void start_program(std::array<std::int64_t, 3> program, std::uint64_t index);
  void fail_assertion(const Instruction& instruction, std::string message);
  void bind(const Code& code) { code_ = &code; }
  bool violated() const { return violated_; }
  // Counts of written elements go into the report.
  void finish();

 private:
  static constexpr int kShift = 44;
  static constexpr std::int64_t kMiddle = std::int64_t{1} << (kShift - 1);
  static constexpr std::uint32_t kAtomic = 0xFFFFFFFFu;
  static constexpr std::uint32_t kSeveral = 0xFFFFFFFEu;

  struct Area {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;
    std::int64_t first = 0;  // address of the first byte
    std::size_t element_bytes = 1;
    int element_shift = 0;  // log2 of element_bytes
    std::vector<std::uint32_t>
        writers;  // by element: 0 nobody, n + 1 program n; allocated at the first store
    std::vector<std::uint32_t> readers;  // likewise, from the first store on
    std::uint64_t written = 0;
    int double_write = -1;    // index into the report's double_writes
    int shared_element = -1;  // ... and shared_elements
  };
  void violate(std::int64_t address, std::size_t bytes, ViolationKind kind,
               const Instruction& instruction);
  void note_double_write(Area& area, std::int64_t element, bool conflicting,
                         const Instruction& instruction);
  void note_reads(Area& area, std::int64_t address, std::size_t bytes,
                  const Instruction& instruction);
  void note_shared(Area& area, std::int64_t element, const Instruction& instruction);
  Violation* find_or_add(ViolationKind kind, SourceLine at);
  Area* area_of(std::int64_t address) {
    auto slot = static_cast<std::uint64_t>(address >> kShift) - 1;
    return slot < buffers_.size() ? &buffers_[slot] : nullptr;
  }
  void ready_writers(Area& area);

  const Launch& launch_;
  LaunchReport& report_;
  const Code* code_ = nullptr;
  std::vector<Area> buffers_;
  std::array<std::int64_t, 3> program_ = {};
  std::uint32_t writer_ = 1;
  bool violated_ = false;
};

}  // namespace tritonsmith::gym
