#include "gym/triton_ir/memory/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/counted.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// Names what a program does to elements that it may not touch.
std::string_view verb(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::load:
      return "reads";
    case ViolationKind::store:
      return "writes";
    case ViolationKind::atomic:
      return "updates";
    case ViolationKind::misaligned:
    case ViolationKind::assertion:
    case ViolationKind::hint:
      break;
  }
  return "";
}

void write_messages(std::vector<Violation>& violations) {
  for (Violation& violation : violations)
    if (!violation.where.empty())
      violation.message = fmt::format(
          "{} {} {}", verb(violation.kind),
          counted(static_cast<std::int64_t>(violation.times), "element"), violation.where);
}

}  // namespace

Memory::Memory(const Launch& launch, std::size_t table_bytes, LaunchReport& report)
    : launch_(launch),
      report_(report),
      max_table_bytes_(table_bytes),
      violations_(report.violations) {
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

void Memory::bind(const Code& code) {
  code_ = &code;
  if (code.atomics == Atomics::none) return;
  epoch_.order_by_atomics(code.atomics == Atomics::blocks ? Ordering::Grain::coarse
                                                          : Ordering::Grain::exact);
}

void Memory::start_program(std::array<std::int64_t, 3> program, std::uint64_t index) {
  program_ = program;
  polled_ = {};
  epoch_.start(static_cast<std::uint32_t>(index % (Area::kAtomic - 2)));
}

std::uint64_t Memory::Polled::value() const {
  std::uint64_t value = 0;
  std::memcpy(&value, address, std::min(bytes, sizeof value));
  return value;
}

Memory::SuspendedProgram Memory::leave_program() {
  return {.program = program_, .epoch = epoch_.leave(), .polled = polled_};
}

void Memory::resume_program(SuspendedProgram suspended) {
  program_ = suspended.program;
  polled_ = suspended.polled;
  epoch_.resume(std::move(suspended.epoch));
}

void Memory::note_reads(Area& area, std::int64_t address, std::size_t bytes,
                        const Instruction& instruction) {
  auto offset = static_cast<std::uint64_t>(address - area.first);
  const std::uint64_t first = offset >> area.element_shift;
  const std::uint64_t last = (offset + bytes - 1) >> area.element_shift;
  table_bytes_ += area.ready_tables(first, last);
  // On a GPU, a program that reads a flag set by an atomic runs after the work before it.
  if (instruction.count == 1 && (area.writers[first] & Area::kAtomic) != 0) epoch_.acquire(address);
  for (std::uint64_t element = first; element <= last; ++element) {
    const std::uint32_t writer = area.writers[element];
    const std::uint32_t epoch = writer & ~Area::kAtomic;
    if (writer != 0 && !epoch_.is_own(epoch) && !epoch_.is_known(epoch))
      note_shared(area, element, (writer & Area::kAtomic) != 0 ? Clarity::unclear : Clarity::race,
                  instruction);
    std::uint32_t& reader = area.readers[element];
    const bool alone = reader == 0 || (reader != Area::kSeveral &&
                                       (epoch_.is_own(reader) || epoch_.is_known(reader)));
    reader = alone ? epoch_.now() : Area::kSeveral;
  }
}

void Memory::note_shared(Area& area, std::uint64_t element, Clarity clarity,
                         const Instruction& instruction) {
  const bool is_race = clarity == Clarity::race;
  std::vector<SharedElement>& list = is_race ? report_.shared_elements : report_.unclear_elements;
  int& noted = is_race ? area.shared_element : area.unclear_element;
  if (noted < 0) {
    noted = static_cast<int>(list.size());
    auto index = static_cast<std::size_t>(&area - buffers_.data());
    list.push_back({.tensor = launch_.buffers[index].tensor,
                    .element = static_cast<std::int64_t>(element),
                    .program = program_,
                    .at = code_->locations[static_cast<std::size_t>(instruction.location)]});
  }
  ++list[static_cast<std::size_t>(noted)].elements;
}

// Checks the readers of an element that is about to be written.
void Memory::check_readers(Area& area, std::uint64_t element, const Instruction& instruction) {
  std::uint32_t& reader = area.readers[element];
  if (reader == 0 || reader == epoch_.now()) return;
  if (reader == Area::kSeveral) {
    // The table does not name the readers. If this program has waited, it may have waited for them.
    const bool waited = epoch_.has_acquired();
    note_shared(area, element, waited ? Clarity::unclear : Clarity::race, instruction);
    return;
  }
  if (epoch_.is_own(reader)) return;
  if (epoch_.is_known(reader))
    reader = 0;
  else
    note_shared(area, element, Clarity::race, instruction);
}

void Memory::will_write(const std::byte* target, const void* value, std::int64_t address,
                        std::size_t bytes, const Instruction& instruction) {
  Area& area = *area_of(address);
  auto offset = static_cast<std::uint64_t>(address - area.first);
  const std::uint64_t first = offset >> area.element_shift;
  const std::uint64_t last = (offset + bytes - 1) >> area.element_shift;
  table_bytes_ += area.ready_tables(first, last);
  for (std::uint64_t element = first; element <= last; ++element) {
    std::uint32_t& writer = area.writers[element];
    const std::uint32_t epoch = writer & ~Area::kAtomic;
    if (writer == 0) {
      ++area.written;
    } else if (!epoch_.is_own(epoch) && !epoch_.is_known(epoch)) {
      if ((writer & Area::kAtomic) != 0)
        note_shared(area, element, Clarity::race, instruction);
      else if (bytes >= area.element_bytes)
        note_double_write(area, static_cast<std::int64_t>(element),
                          std::memcmp(target, value, bytes) != 0, instruction);
    }
    check_readers(area, element, instruction);
    writer = epoch_.now();
  }
}

bool Memory::claim_run(std::int64_t address, std::size_t bytes, std::size_t count) {
  if (reach_run(address, bytes, count) == nullptr) return false;
  Area& area = *area_of(address);
  if (bytes != area.element_bytes) return false;
  const std::uint64_t first =
      static_cast<std::uint64_t>(address - area.first) >> area.element_shift;
  table_bytes_ += area.ready_tables(first, first + count - 1);
  std::uint32_t* writers = area.writers.get() + first;
  const std::uint32_t* readers = area.readers.get() + first;
  std::size_t unwritten = 0, others = 0;
  for (std::size_t i = 0; i < count; ++i) {
    unwritten += writers[i] == 0 ? 1 : 0;
    others += writers[i] != 0 && writers[i] != epoch_.now() ? 1 : 0;
    others += readers[i] != 0 && readers[i] != epoch_.now() ? 1 : 0;
  }
  if (others > 0) return false;
  std::fill_n(writers, count, epoch_.now());
  area.written += unwritten;
  return true;
}

void Memory::begin_atomic(std::int64_t address, MemoryOrder order) {
  if (order == MemoryOrder::acquire || order == MemoryOrder::both) epoch_.acquire(address);
}

void Memory::end_atomic(std::int64_t address, MemoryOrder order) {
  if (order != MemoryOrder::release && order != MemoryOrder::both) return;
  epoch_.release(address);
}

void Memory::will_change_atomically(std::int64_t address, std::size_t bytes,
                                    const Instruction& instruction) {
  Area& area = *area_of(address);
  if (instruction.count == 1) polled_ = {area.data + (address - area.first), bytes};
  auto offset = static_cast<std::uint64_t>(address - area.first);
  const std::uint64_t first = offset >> area.element_shift;
  const std::uint64_t last = (offset + bytes - 1) >> area.element_shift;
  table_bytes_ += area.ready_tables(first, last);
  const bool is_for_all =
      static_cast<MemoryOrder>(instruction.immediate) != MemoryOrder::within_program;
  for (std::uint64_t element = first; element <= last; ++element) {
    std::uint32_t& writer = area.writers[element];
    const std::uint32_t epoch = writer & ~Area::kAtomic;
    const bool are_atomic = is_for_all && (writer & Area::kAtomic) != 0;
    if (writer == 0)
      ++area.written;
    else if (!are_atomic && !epoch_.is_own(epoch) && !epoch_.is_known(epoch))
      note_shared(area, element, Clarity::race, instruction);
    if (!is_for_all) {
      check_readers(area, element, instruction);
      writer = epoch_.now();
      continue;
    }
    const std::uint32_t reader = area.readers[element];
    if (reader == Area::kSeveral ||
        (reader != 0 && !epoch_.is_own(reader) && !epoch_.is_known(reader)))
      note_shared(area, element, Clarity::unclear, instruction);
    writer = epoch_.now() | Area::kAtomic;
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

void Memory::violate(std::int64_t address, std::size_t bytes, ViolationKind kind,
                     const Instruction& instruction) {
  const Area* area = area_of(address);
  const std::int64_t offset = area != nullptr ? address - area->first : 0;
  const bool inside =
      area != nullptr && offset >= 0 && static_cast<std::uint64_t>(offset) + bytes <= area->bytes;
  if (inside) kind = ViolationKind::misaligned;
  SourceLine at = code_->locations[static_cast<std::size_t>(instruction.location)];
  Violation* violation = violations_.add(kind, program_, at);
  if (violation == nullptr) return;
  const std::string line = at.line > 0 ? fmt::format(" at line {}", at.line) : "";
  const std::string program =
      fmt::format("program ({}, {}, {})", program_[0], program_[1], program_[2]);
  if (area == nullptr) {
    violation->byte_offset = address;
    violation->where = fmt::format("through a pointer into no buffer{} ({})", line, program);
    return;
  }
  const Buffer& buffer = launch_.buffers[static_cast<std::size_t>(area - buffers_.data())];
  violation->tensor = buffer.tensor;
  violation->byte_offset = offset;
  violation->element = offset >> area->element_shift;
  const std::string name =
      buffer.name.empty() ? fmt::format("tensor {}", buffer.tensor) : std::string(buffer.name);
  if (inside)
    violation->message = fmt::format("accesses {} bytes at the misaligned byte {} of {}{} ({})",
                                     bytes, offset, name, line, program);
  else
    violation->where =
        fmt::format("{} {}{} (element {} of {}, {})", offset < 0 ? "before" : "past", name, line,
                    violation->element, area->bytes >> area->element_shift, program);
}

void Memory::fail(ViolationKind kind, const Instruction& instruction, const std::string& message) {
  SourceLine at = code_->locations[static_cast<std::size_t>(instruction.location)];
  if (Violation* violation = violations_.add(kind, program_, at))
    violation->message = fmt::format("{} (program ({}, {}, {}), line {})", message, program_[0],
                                     program_[1], program_[2], at.line);
}

void Memory::note_false_hint(const Instruction& instruction, const std::string& message) {
  constexpr std::size_t most = 8;
  SourceLine at = code_->locations[static_cast<std::size_t>(instruction.location)];
  if (report_.false_hints.size() < most &&
      std::ranges::find(report_.false_hints, at, &FalseHint::at) == report_.false_hints.end())
    report_.false_hints.push_back({.message = message, .at = at});
}

void Memory::finish() {
  write_messages(report_.violations);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Area& area = buffers_[i];
    report_.elements_written.push_back(area.written);
    std::span<std::uint8_t> written = launch_.buffers[i].written;
    const std::size_t count =
        area.writers == nullptr ? 0 : std::min<std::size_t>(written.size(), area.elements());
    for (std::size_t element = 0; element < count; ++element)
      if (area.writers[element] != 0) written[element] = 1;
  }
}

}  // namespace tritonsmith::gym::triton_ir
