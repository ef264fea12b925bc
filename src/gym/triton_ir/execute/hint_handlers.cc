// Does with hints what a GPU's compiler may do: it accesses several elements at once by the address of
// the first, and computes one of several elements that count as equal. False hints show so.
#include <cstring>
#include <limits>

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"

namespace tritonsmith::gym::triton_ir {
namespace {

const std::string& text_of(const Machine& machine, const Instruction& instruction) {
  return machine.code->texts[static_cast<std::size_t>(instruction.immediate)];
}

// The elements that one thread accesses at once: `width` of them, `step` apart in their registers.
struct Vector {
  const std::int64_t* addresses = nullptr;
  const std::uint8_t* mask = nullptr;  // null: all elements
  std::int64_t width = 1, step = 1, bytes = 1;

  bool is_on(std::int64_t k) const { return mask == nullptr || mask[k * step] != 0; }
  // Tells whether one access by the first one's address works, whatever it reads.
  bool starts_well() const {
    for (std::int64_t k = 0; k < width; ++k)
      if (!is_on(k)) return false;
    return addresses[0] % (width * bytes) == 0;
  }
  // Tells whether an access to all of them by the first one's address and mask does what the
  // elements' own addresses and masks say.
  bool is_one_access() const {
    bool any = false, all = true;
    for (std::int64_t k = 0; k < width; ++k) {
      any |= is_on(k);
      all &= is_on(k);
    }
    if (!any) return true;
    if (!all || addresses[0] % (width * bytes) != 0) return false;
    const auto first = static_cast<std::uint64_t>(addresses[0]);
    for (std::int64_t k = 1; k < width; ++k)
      if (static_cast<std::uint64_t>(addresses[k * step]) - first !=
          static_cast<std::uint64_t>(k * bytes))
        return false;
    return true;
  }
};

template <typename T>
void repeat_equal(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const auto rank = static_cast<std::size_t>(table[0]);
  const std::int64_t *shape = &table[1], *group = &table[1 + rank];
  const T* in = machine.input<T>(instruction, 0);
  T* out = machine.output<T>(instruction);
  std::array<std::int64_t, kMaxRank> index{};
  bool differs = false;
  for (std::uint32_t k = 0; k < instruction.count; ++k) {
    std::int64_t first = 0;
    for (std::size_t d = 0; d < rank; ++d)
      first = first * shape[d] + (index[d] - index[d] % group[d]);
    out[k] = in[first];
    differs |= std::memcmp(&in[k], &in[first], sizeof(T)) != 0;
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  if (differs) machine.memory->note_false_hint(instruction, text_of(machine, instruction));
}

// Calls `use` with each vector of the access, and with the index of its first element.
template <typename Use>
void for_each_vector(const Machine& machine, const Instruction& instruction, const Use& use) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const std::int64_t outer = table[0], size = table[1], inner = table[2], width = table[3];
  const std::int64_t* addresses = machine.input<std::int64_t>(instruction, 0);
  const std::uint8_t* mask =
      instruction.inputs[1] != kNone ? machine.input<std::uint8_t>(instruction, 1) : nullptr;
  for (std::int64_t row = 0; row < outer; ++row)
    for (std::int64_t from = 0; from + width <= size; from += width)
      for (std::int64_t column = 0; column < inner; ++column) {
        const std::int64_t at = (row * size + from) * inner + column;
        use(Vector{.addresses = addresses + at,
                   .mask = mask != nullptr ? mask + at : nullptr,
                   .width = width,
                   .step = inner,
                   .bytes = table[4]},
            at);
      }
}

// Numbers that no kernel may use: NaN spoils sums and products, the others a maximum or a minimum.
template <typename T>
void spoil_vectors(Machine& machine, const Instruction& instruction) {
  constexpr T kSpoilt[] = {T{224}, std::numeric_limits<T>::quiet_NaN(), T{-224}};
  T* out = machine.output<T>(instruction);
  for_each_vector(machine, instruction, [&](const Vector& vector, std::int64_t at) {
    if (vector.is_one_access()) return;
    for (std::int64_t k = 1; k < vector.width; ++k) out[at + k * vector.step] = kSpoilt[k % 3];
  });
}

}  // namespace

void check_vectors(Machine& machine, const Instruction& instruction) {
  const bool is_load = machine.table(instruction)[5] != 0;
  for_each_vector(machine, instruction, [&](const Vector& vector, std::int64_t) {
    if (vector.is_one_access()) return;
    if (!is_load || !vector.starts_well()) {
      machine.memory->fail(ViolationKind::hint, instruction, text_of(machine, instruction));
      return;
    }
    machine.memory->note_false_hint(instruction, text_of(machine, instruction));
    // A GPU reads what lies beside the first element. That must lie in the tensor, too.
    for (std::int64_t k = 1; k < vector.width; ++k)
      machine.memory->reach(vector.addresses[0] + k * vector.bytes,
                            static_cast<std::size_t>(vector.bytes), ViolationKind::load,
                            instruction);
  });
}

Handler spoil_vectors_handler(Element element) {
  if (element == Element::f64) return spoil_vectors<double>;
  return is_float(element) ? spoil_vectors<float> : nullptr;
}

Handler repeat_equal_handler(std::size_t bytes) {
  return by_bytes(bytes, repeat_equal<std::uint8_t>, repeat_equal<std::uint16_t>,
                  repeat_equal<std::uint32_t>, repeat_equal<std::uint64_t>);
}

}  // namespace tritonsmith::gym::triton_ir
