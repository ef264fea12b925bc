// Runs a block of inline assembly on the elements of its operands, `pack` at a time. Triton packs
// elements of less than 32 bits into registers of 32 bits, as many as fit or as are taken at a time.
#include <algorithm>
#include <cstring>

#include "gym/triton_ir/execute/assembly.h"
#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// The elements of one register.
std::size_t elements_in_register(std::size_t bytes, std::size_t pack) {
  return std::min(std::max<std::size_t>(4 / bytes, 1), pack);
}

std::size_t registers_of(std::size_t bytes, std::size_t pack) {
  return pack / elements_in_register(bytes, pack);
}

// Copies `count` elements of the tensor at `first` into registers, or back.
void read(const std::byte* tensor, std::size_t bytes, std::size_t pack, std::size_t first,
          std::size_t end, std::uint64_t* registers) {
  const std::size_t each = elements_in_register(bytes, pack);
  for (std::size_t k = 0; k < pack && first + k < end; ++k) {
    std::uint64_t element = 0;
    std::memcpy(&element, tensor + (first + k) * bytes, bytes);
    registers[k / each] |= element << (8 * bytes * (k % each));
  }
}
void write(std::byte* tensor, std::size_t bytes, std::size_t pack, std::size_t first,
           std::size_t end, const std::uint64_t* registers) {
  const std::size_t each = elements_in_register(bytes, pack);
  for (std::size_t k = 0; k < pack && first + k < end; ++k) {
    const std::uint64_t element = registers[k / each] >> (8 * bytes * (k % each));
    std::memcpy(tensor + (first + k) * bytes, &element, bytes);
  }
}

}  // namespace

std::size_t assembly_registers(std::size_t bytes, std::size_t pack) {
  return registers_of(bytes, pack);
}

void run_assembly(Machine& machine, const Instruction& instruction) {
  // block, pack, first register of this result, its bytes, operands, bytes of each operand
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const auto at = [&](std::size_t k) { return static_cast<std::size_t>(table[k]); };
  const AssemblyBlock& block = *machine.code->assembly[at(0)];
  const std::size_t pack = at(1), result = at(2), result_bytes = at(3), operands = at(4);
  std::vector<std::uint64_t> registers(block.register_count());
  for (std::size_t first = 0; first < instruction.count; first += pack) {
    std::ranges::fill(registers, 0);
    std::size_t reg = block.results();
    for (std::size_t k = 0; k < operands; ++k) {
      const std::size_t bytes = at(5 + k);
      read(machine.input<std::byte>(instruction, k), bytes, pack, first, instruction.count,
           &registers[reg]);
      reg += registers_of(bytes, pack);
    }
    block.run(registers);
    write(machine.output<std::byte>(instruction), result_bytes, pack, first, instruction.count,
          &registers[result]);
  }
}

}  // namespace tritonsmith::gym::triton_ir
