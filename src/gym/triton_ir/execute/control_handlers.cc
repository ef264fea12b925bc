#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"

namespace tritonsmith::gym::triton_ir {
namespace {

template <typename T>
void loop_head(Machine& machine, const Instruction& instruction) {
  if (!(*machine.input<T>(instruction, 0) < *machine.input<T>(instruction, 1)))
    machine.next = static_cast<std::size_t>(instruction.immediate);
}

}  // namespace

void jump(Machine& machine, const Instruction& instruction) {
  machine.next = static_cast<std::size_t>(instruction.immediate);
}

void jump_back(Machine& machine, const Instruction& instruction) {
  const auto target = static_cast<std::size_t>(instruction.immediate);
  const bool is_back = target < machine.next;
  machine.next = target;
  if (is_back && machine.passes-- == 0) machine.leave_at(target);
}

void jump_if_false(Machine& machine, const Instruction& instruction) {
  if (*machine.input<std::uint8_t>(instruction, 0) == 0)
    machine.next = static_cast<std::size_t>(instruction.immediate);
}

Handler loop_head_handler(Element counter, bool is_unsigned) {
  switch (counter) {
    case Element::i8:
      return is_unsigned ? loop_head<std::uint8_t> : loop_head<std::int8_t>;
    case Element::i16:
      return is_unsigned ? loop_head<std::uint16_t> : loop_head<std::int16_t>;
    case Element::i32:
      return is_unsigned ? loop_head<std::uint32_t> : loop_head<std::int32_t>;
    case Element::i64:
      return is_unsigned ? loop_head<std::uint64_t> : loop_head<std::int64_t>;
    default:
      return nullptr;
  }
}

void program_id(Machine& machine, const Instruction& instruction) {
  *machine.output<std::int32_t>(instruction) =
      static_cast<std::int32_t>(machine.program[static_cast<std::size_t>(instruction.immediate)]);
}

void num_programs(Machine& machine, const Instruction& instruction) {
  *machine.output<std::int32_t>(instruction) =
      static_cast<std::int32_t>(machine.grid[static_cast<std::size_t>(instruction.immediate)]);
}

void check_assertion(Machine& machine, const Instruction& instruction) {
  const std::uint8_t* holds = machine.input<std::uint8_t>(instruction, 0);
  for (std::uint32_t k = 0; k < instruction.count; ++k)
    if (holds[k] == 0)
      machine.memory->fail(
          ViolationKind::assertion, instruction,
          "device assertion failed: " +
              machine.code->texts[static_cast<std::size_t>(instruction.immediate)]);
}

}  // namespace tritonsmith::gym::triton_ir
