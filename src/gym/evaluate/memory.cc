#include "gym/evaluate/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tritonsmith::gym {
namespace {

constexpr std::size_t kMaxViolations = 8;

std::string_view verb(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::load:
      return "load";
    case ViolationKind::store:
      return "store";
    case ViolationKind::atomic:
      return "atomic access";
    case ViolationKind::misaligned:
      return "misaligned access";
    case ViolationKind::assertion:
      return "assertion";
  }
  return "";
}

}  // namespace

Memory::Memory(const Launch& launch, LaunchReport& report) : launch_(launch), report_(report) {
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    const Buffer& buffer = launch.buffers[i];
    const std::size_t element = std::bit_floor(std::max<std::size_t>(buffer.element_bytes, 1));
    buffers_.push_back({.data = buffer.data,
                        .bytes = buffer.bytes,
                        .first = address(static_cast<int>(i), 0),
                        .element_bytes = element,
                        .element_shift = std::countr_zero(element)});
  }
}

void Memory::start_program(std::array<std::int64_t, 3> program, std::uint64_t index) {
  program_ = program;
  writer_ = static_cast<std::uint32_t>(index % (kSeveral - 2)) + 1;
}

void Memory::ready_writers(Area& area) {
  if (!area.writers.empty()) return;
  area.writers.resize((area.bytes + area.element_bytes - 1) >> area.element_shift);
  area.readers.resize(area.writers.size());
}

void Memory::note_reads(Area& area, std::int64_t address, std::size_t bytes,
                        const Instruction& instruction) {
  auto offset = static_cast<std::uint64_t>(address - area.first);
  const std::uint64_t last = (offset + bytes - 1) >> area.element_shift;
  for (std::uint64_t element = offset >> area.element_shift; element <= last; ++element) {
    const std::uint32_t writer = area.writers[element];
    if (writer != 0 && writer != writer_ && writer != kAtomic)
      note_shared(area, static_cast<std::int64_t>(element), instruction);
    std::uint32_t& reader = area.readers[element];
    reader = reader == 0 || reader == writer_ ? writer_ : kSeveral;
  }
}

void Memory::note_shared(Area& area, std::int64_t element, const Instruction& instruction) {
  if (area.shared_element < 0) {
    area.shared_element = static_cast<int>(report_.shared_elements.size());
    auto index = static_cast<std::size_t>(&area - buffers_.data());
    report_.shared_elements.push_back(
        {.tensor = launch_.buffers[index].tensor,
         .element = element,
         .program = program_,
         .at = code_->locations[static_cast<std::size_t>(instruction.location)]});
  }
  ++report_.shared_elements[static_cast<std::size_t>(area.shared_element)].elements;
}

void Memory::will_write(const std::byte* target, const void* value, std::int64_t address,
                        std::size_t bytes, const Instruction& instruction) {
  Area& area = *area_of(address);
  ready_writers(area);
  auto offset = static_cast<std::uint64_t>(address - area.first);
  const std::uint64_t first = offset >> area.element_shift;
  const std::uint64_t last = (offset + bytes - 1) >> area.element_shift;
  for (std::uint64_t element = first; element <= last; ++element) {
    std::uint32_t& writer = area.writers[element];
    if (writer == 0) {
      ++area.written;
    } else if (writer != writer_ && writer != kAtomic && bytes >= area.element_bytes) {
      note_double_write(area, static_cast<std::int64_t>(element),
                        std::memcmp(target, value, bytes) != 0, instruction);
    }
    const std::uint32_t reader = area.readers[element];
    if (reader != 0 && reader != writer_)
      note_shared(area, static_cast<std::int64_t>(element), instruction);
    writer = writer_;
  }
}

bool Memory::claim_run(std::int64_t address, std::size_t bytes, std::size_t count) {
  if (reach_run(address, bytes, count) == nullptr) return false;
  Area& area = *area_of(address);
  if (bytes != area.element_bytes) return false;
  ready_writers(area);
  std::uint32_t* writers = area.writers.data() +
                           (static_cast<std::uint64_t>(address - area.first) >> area.element_shift);
  const std::uint32_t* readers = area.readers.data() + (writers - area.writers.data());
  std::size_t unwritten = 0, others = 0;
  for (std::size_t i = 0; i < count; ++i) {
    unwritten += writers[i] == 0 ? 1 : 0;
    others += writers[i] != 0 && writers[i] != writer_ ? 1 : 0;
    others += readers[i] != 0 && readers[i] != writer_ ? 1 : 0;
  }
  if (others > 0) return false;
  std::fill_n(writers, count, writer_);
  area.written += unwritten;
  return true;
}

void Memory::will_change_atomically(std::int64_t address, std::size_t bytes) {
  report_.used_atomics = true;
  Area& area = *area_of(address);
  ready_writers(area);
  auto offset = static_cast<std::uint64_t>(address - area.first);
  const std::uint64_t last = (offset + bytes - 1) >> area.element_shift;
  for (std::uint64_t element = offset >> area.element_shift; element <= last; ++element) {
    if (area.writers[element] == 0) ++area.written;
    area.writers[element] = kAtomic;
  }
}

void Memory::note_double_write(Area& area, std::int64_t element, bool conflicting,
                               const Instruction& instruction) {
  if (area.double_write < 0) {
    area.double_write = static_cast<int>(report_.double_writes.size());
    auto index = static_cast<std::size_t>(&area - buffers_.data());
    report_.double_writes.push_back(
        {.tensor = launch_.buffers[index].tensor,
         .element = element,
         .program = program_,
         .at = code_->locations[static_cast<std::size_t>(instruction.location)]});
  }
  DoubleWrite& noted = report_.double_writes[static_cast<std::size_t>(area.double_write)];
  ++noted.elements;
  if (conflicting) ++noted.conflicting;
}

Violation* Memory::find_or_add(ViolationKind kind, SourceLine at) {
  violated_ = true;
  for (Violation& known : report_.violations)
    if (known.kind == kind && known.at == at) {
      ++known.times;
      return nullptr;
    }
  if (report_.violations.size() >= kMaxViolations) return nullptr;
  report_.violations.push_back({.kind = kind, .program = program_, .at = at, .times = 1});
  return &report_.violations.back();
}

void Memory::violate(std::int64_t address, std::size_t bytes, ViolationKind kind,
                     const Instruction& instruction) {
  const Area* area = area_of(address);
  const std::int64_t offset = area != nullptr ? address - area->first : 0;
  const bool inside =
      area != nullptr && offset >= 0 && static_cast<std::uint64_t>(offset) + bytes <= area->bytes;
  if (inside) kind = ViolationKind::misaligned;
  SourceLine at = code_->locations[static_cast<std::size_t>(instruction.location)];
  Violation* violation = find_or_add(kind, at);
  if (violation == nullptr) return;
  std::string where = fmt::format("program ({}, {}, {})", program_[0], program_[1], program_[2]);
  if (at.line > 0) where += fmt::format(", line {}", at.line);
  if (area == nullptr) {
    violation->byte_offset = address;
    violation->message = fmt::format("{} through a pointer into no buffer ({})", verb(kind), where);
    return;
  }
  const Buffer& buffer = launch_.buffers[static_cast<std::size_t>(area - buffers_.data())];
  violation->tensor = buffer.tensor;
  violation->byte_offset = offset;
  violation->element = offset >> area->element_shift;
  violation->message =
      inside ? fmt::format("{} of {} bytes at byte {} of tensor {} ({})", verb(kind), bytes, offset,
                           buffer.tensor, where)
             : fmt::format("{} of element {} of tensor {}, which has {} elements ({})", verb(kind),
                           violation->element, buffer.tensor, area->bytes >> area->element_shift,
                           where);
}

void Memory::fail_assertion(const Instruction& instruction, std::string message) {
  SourceLine at = code_->locations[static_cast<std::size_t>(instruction.location)];
  if (Violation* violation = find_or_add(ViolationKind::assertion, at))
    violation->message = fmt::format("device assertion failed: {} (program ({}, {}, {}), line {})",
                                     message, program_[0], program_[1], program_[2], at.line);
}

void Memory::finish() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Area& area = buffers_[i];
    report_.elements_written.push_back(area.written);
    std::span<std::uint8_t> written = launch_.buffers[i].written;
    const std::size_t count = std::min(written.size(), area.writers.size());
    for (std::size_t element = 0; element < count; ++element)
      if (area.writers[element] != 0) written[element] = 1;
  }
}

}  // namespace tritonsmith::gym
