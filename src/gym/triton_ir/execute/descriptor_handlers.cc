#include <limits>

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"

namespace tritonsmith::gym::triton_ir {
namespace {

template <typename T>
void set_number(Machine& machine, const Instruction& instruction) {
  machine.output<std::int64_t>(instruction)[instruction.immediate] =
      static_cast<std::int64_t>(*machine.input<T>(instruction, 0));
}

// Calls visit(element, coordinates) for all elements of the block, in order.
template <typename Visit>
void walk(const std::vector<std::int64_t>& table, std::uint32_t count, Visit visit) {
  const auto rank = static_cast<std::size_t>(table[0]);
  std::array<std::int64_t, kMaxRank> index{};
  for (std::uint32_t k = 0; k < count; ++k) {
    visit(k, index);
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < table[1 + d]) break;
      index[d] = 0;
    }
  }
}

template <typename T>
void padding(Machine& machine, const Instruction& instruction) {
  const std::int64_t* descriptor = machine.input<std::int64_t>(instruction, 0);
  const bool nan = descriptor[1 + 2 * machine.table(instruction)[0]] == 1;
  std::fill_n(machine.output<T>(instruction), instruction.count,
              nan ? std::numeric_limits<T>::quiet_NaN() : T{0});
}

}  // namespace

Handler set_number_handler(Element element) {
  switch (element) {
    case Element::i32:
      return set_number<std::int32_t>;
    case Element::i64:
    case Element::pointer:
      return set_number<std::int64_t>;
    default:
      return nullptr;
  }
}

void descriptor_addresses(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const auto rank = static_cast<std::size_t>(table[0]);
  const std::int64_t* descriptor = machine.input<std::int64_t>(instruction, 0);
  const std::int64_t* offsets = machine.input<std::int64_t>(instruction, 1);
  std::int64_t* out = machine.output<std::int64_t>(instruction);
  const auto bytes = static_cast<std::uint64_t>(table.back());
  walk(table, instruction.count, [&](std::uint32_t k, const auto& index) {
    auto address = static_cast<std::uint64_t>(descriptor[0]);
    for (std::size_t d = 0; d < rank; ++d)
      address += static_cast<std::uint64_t>(offsets[d] + index[d]) *
                 static_cast<std::uint64_t>(descriptor[1 + rank + d]) * bytes;
    out[k] = static_cast<std::int64_t>(address);
  });
}

void descriptor_mask(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const auto rank = static_cast<std::size_t>(table[0]);
  const std::int64_t* descriptor = machine.input<std::int64_t>(instruction, 0);
  const std::int64_t* offsets = machine.input<std::int64_t>(instruction, 1);
  std::uint8_t* out = machine.output<std::uint8_t>(instruction);
  walk(table, instruction.count, [&](std::uint32_t k, const auto& index) {
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d)
      inside &= offsets[d] + index[d] >= 0 && offsets[d] + index[d] < descriptor[1 + d];
    out[k] = inside ? 1 : 0;
  });
}

// The hardware that copies blocks finds rows by addresses that are multiples of 16 bytes.
void check_descriptor(Machine& machine, const Instruction& instruction) {
  constexpr std::int64_t kAlignment = 16, kMostStride = std::int64_t{1} << 40;
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const auto rank = static_cast<std::size_t>(table[0]);
  const std::int64_t bytes = table[1];
  const std::int64_t* descriptor = machine.input<std::int64_t>(instruction, 0);
  const std::int64_t* strides = descriptor + 1 + rank;
  const auto fail = [&](std::string message) {
    machine.memory->fail(ViolationKind::misaligned, instruction, message);
  };
  if (descriptor[0] % kAlignment != 0)
    return fail(
        "a tensor descriptor's base must lie at a multiple of 16 bytes, and this one does not");
  if (strides[rank - 1] != 1)
    return fail(fmt::format("a tensor descriptor's last stride must be 1, and this one is {}",
                            strides[rank - 1]));
  for (std::size_t d = 0; d + 1 < rank; ++d)
    if (strides[d] < 0 || strides[d] >= kMostStride / bytes || strides[d] * bytes % kAlignment != 0)
      return fail(fmt::format(
          "a tensor descriptor's strides must be multiples of 16 bytes, and stride {} is "
          "{} elements of {} bytes",
          d, strides[d], bytes));
}

Handler descriptor_padding_handler(Element element) {
  switch (element) {
    case Element::i8:
      return padding<std::int8_t>;
    case Element::i16:
      return padding<std::int16_t>;
    case Element::i32:
      return padding<std::int32_t>;
    case Element::i64:
      return padding<std::int64_t>;
    case Element::f64:
      return padding<double>;
    default:
      return is_float(element) ? padding<float> : Handler(nullptr);
  }
}

}  // namespace tritonsmith::gym::triton_ir
