#include <algorithm>
#include <cstring>

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"

namespace tritonsmith::gym::triton_ir {
namespace {

template <typename T>
void strided_copy(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const auto rank = static_cast<std::size_t>(table[0]);
  const std::int64_t *shape = &table[1], *strides = &table[1 + rank];
  const std::int64_t row = shape[rank - 1], step = strides[rank - 1];
  const T* in = machine.input<T>(instruction, 0);
  T* out = machine.output<T>(instruction);
  T* end = out + instruction.count;
  std::array<std::int64_t, kMaxRank> index{};
  std::int64_t offset = 0;
  while (out < end) {
    if (step == 0)
      std::fill_n(out, row, in[offset]);
    else if (step == 1)
      std::copy_n(in + offset, row, out);
    else
      for (std::int64_t k = 0; k < row; ++k) out[k] = in[offset + k * step];
    out += row;
    for (std::size_t d = rank - 1; d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

template <typename T>
void take_half(Machine& machine, const Instruction& instruction) {
  const std::int64_t inner = instruction.immediate / 2, which = instruction.immediate % 2;
  const T* __restrict in = machine.input<T>(instruction, 0) + which * inner;
  T* __restrict out = machine.output<T>(instruction);
  const std::int64_t count = instruction.count;
  if (inner == 1) {
    for (std::int64_t k = 0; k < count; ++k) out[k] = in[2 * k];
  } else {
    for (std::int64_t k = 0; k < count; k += inner) std::copy_n(in + 2 * k, inner, out + k);
  }
}

template <typename T>
void interleave(Machine& machine, const Instruction& instruction) {
  const T* a = machine.input<T>(instruction, 0);
  const T* b = machine.input<T>(instruction, 1);
  T* __restrict out = machine.output<T>(instruction);
  for (std::size_t k = 0; k < instruction.count; ++k) {
    out[2 * k] = a[k];
    out[2 * k + 1] = b[k];
  }
}

template <typename T>
void copy_to(Machine& machine, const Instruction& instruction) {
  std::copy_n(machine.input<T>(instruction, 0), instruction.count,
              machine.output<T>(instruction) + instruction.immediate);
}

// An index out of bounds is undefined on a GPU. Here it gives 0.
template <typename T, typename Index>
void gather(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const std::int64_t outer = table[0], size = table[1], inner = table[2], wanted = table[3];
  const T* in = machine.input<T>(instruction, 0);
  const Index* indices = machine.input<Index>(instruction, 1);
  T* out = machine.output<T>(instruction);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t a = 0; a < wanted; ++a)
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t from = *indices++;
        *out++ = from >= 0 && from < size ? in[(o * size + from) * inner + i] : T{0};
      }
}

template <typename T>
void histogram(Machine& machine, const Instruction& instruction) {
  const T* in = machine.input<T>(instruction, 0);
  const std::uint8_t* mask =
      instruction.inputs[1] != kNone ? machine.input<std::uint8_t>(instruction, 1) : nullptr;
  std::int32_t* bins = machine.output<std::int32_t>(instruction);
  std::fill_n(bins, instruction.immediate, 0);
  for (std::uint32_t k = 0; k < instruction.count; ++k) {
    const auto bin = static_cast<std::int64_t>(in[k]);
    if (bin >= 0 && bin < instruction.immediate && (mask == nullptr || mask[k] != 0)) ++bins[bin];
  }
}

}  // namespace

Handler strided_copy_handler(std::size_t bytes) {
  return by_bytes(bytes, strided_copy<std::uint8_t>, strided_copy<std::uint16_t>,
                  strided_copy<std::uint32_t>, strided_copy<std::uint64_t>);
}

Handler take_half_handler(std::size_t bytes) {
  return by_bytes(bytes, take_half<std::uint8_t>, take_half<std::uint16_t>,
                  take_half<std::uint32_t>, take_half<std::uint64_t>);
}

Handler interleave_handler(std::size_t bytes) {
  return by_bytes(bytes, interleave<std::uint8_t>, interleave<std::uint16_t>,
                  interleave<std::uint32_t>, interleave<std::uint64_t>);
}

Handler copy_to_handler(std::size_t bytes) {
  return by_bytes(bytes, copy_to<std::uint8_t>, copy_to<std::uint16_t>, copy_to<std::uint32_t>,
                  copy_to<std::uint64_t>);
}

Handler gather_handler(std::size_t bytes, Element index) {
  if (index == Element::i64)
    return by_bytes(bytes, gather<std::uint8_t, std::int64_t>, gather<std::uint16_t, std::int64_t>,
                    gather<std::uint32_t, std::int64_t>, gather<std::uint64_t, std::int64_t>);
  return by_bytes(bytes, gather<std::uint8_t, std::int32_t>, gather<std::uint16_t, std::int32_t>,
                  gather<std::uint32_t, std::int32_t>, gather<std::uint64_t, std::int32_t>);
}

Handler histogram_handler(Element element) {
  switch (element) {
    case Element::i8:
      return histogram<std::int8_t>;
    case Element::i16:
      return histogram<std::int16_t>;
    case Element::i32:
      return histogram<std::int32_t>;
    case Element::i64:
      return histogram<std::int64_t>;
    default:
      return nullptr;
  }
}

}  // namespace tritonsmith::gym::triton_ir
