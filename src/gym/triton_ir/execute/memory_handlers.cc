// Loads and stores. The general loop goes over elements, and Memory checks each one. A shorter path
// serves accesses whose elements are all unmasked and consecutive, which is how most kernels read
// and write.
#include <algorithm>
#include <cstring>

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/loops.h"
#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

struct Masked {
  const std::int64_t* addresses;
  const std::uint8_t* mask;  // null: all elements
  std::uint32_t count;
};

Masked masked(const Machine& machine, const Instruction& instruction, std::size_t mask) {
  return {
      machine.input<std::int64_t>(instruction, 0),
      instruction.inputs[mask] != kNone ? machine.input<std::uint8_t>(instruction, mask) : nullptr,
      instruction.count};
}

// Tells whether all elements are unmasked and consecutive, `bytes` apart.
bool side_by_side(const Masked& access, std::size_t bytes) {
  // The addresses are unsigned: a kernel may make any pointer, and differences must wrap.
  const auto at = [&](std::uint32_t k) { return static_cast<std::uint64_t>(access.addresses[k]); };
  std::uint32_t gaps = 0;
  for (std::uint32_t k = 1; k < access.count; ++k) gaps |= at(k) - at(k - 1) != bytes;
  if (access.mask != nullptr)
    for (std::uint32_t k = 0; k < access.count; ++k) gaps |= access.mask[k] == 0;
  return gaps == 0;
}

// Conversions between memory and registers. M is the type in memory, and R is the register's type.
struct Same {
  template <typename T>
  static T load(T value) {
    return value;
  }
  template <typename T>
  static T store(T value) {
    return value;
  }
};
struct Bool {
  static std::uint8_t load(std::uint8_t value) { return value & 1u; }
  static std::uint8_t store(std::uint8_t value) { return value; }
};
struct Half {
  static float load(std::uint16_t value) { return f16_value(value); }
  static std::uint16_t store(float value) { return f16_bits(value); }
};
struct Brain {
  static float load(std::uint16_t value) { return bf16_value(value); }
  static std::uint16_t store(float value) { return bf16_bits(value); }
};
template <Element element>
struct Eighth {
  static float load(std::uint8_t value) { return fp8_values(element)[value]; }
  static std::uint8_t store(float value) { return fp8_bits(element, value); }
};

template <typename M, typename R, typename Format>
void load(Machine& machine, const Instruction& instruction) {
  Masked access = masked(machine, instruction, 1);
  R* __restrict out = machine.output<R>(instruction);
  if (!machine.hidden_stores && side_by_side(access, sizeof(M))) {
    if (const std::byte* run =
            machine.memory->reach_run(access.addresses[0], sizeof(M), access.count)) {
      machine.memory->will_read(access.addresses[0], sizeof(M), access.count, instruction);
      const M* __restrict from = reinterpret_cast<const M*>(run);
      for (std::uint32_t k = 0; k < access.count; ++k) out[k] = Format::load(from[k]);
      return;
    }
  }
  // A masked element without another value is 0, as in the code that Triton makes for a GPU.
  const R* other = instruction.inputs[2] != kNone ? machine.input<R>(instruction, 2) : nullptr;
  for (std::uint32_t k = 0; k < access.count; ++k) {
    if (access.mask != nullptr && access.mask[k] == 0) {
      out[k] = other != nullptr ? other[k] : R{0};
      continue;
    }
    const std::byte* from =
        machine.memory->reach(access.addresses[k], sizeof(M), ViolationKind::load, instruction);
    M value{};
    if (from != nullptr) {
      machine.memory->will_read(access.addresses[k], sizeof(M), 1, instruction);
      const std::byte* older =
          machine.hidden_stores
              ? machine.hidden_stores->seen_by(access.addresses[k], sizeof(M), {k, access.count})
              : nullptr;
      std::memcpy(&value, older != nullptr ? older : from, sizeof value);
    }
    out[k] = Format::load(value);
  }
}

template <typename M, typename R, typename Format>
void store(Machine& machine, const Instruction& instruction) {
  Masked access = masked(machine, instruction, 2);
  const R* values = machine.input<R>(instruction, 1);
  if (!machine.hidden_stores && side_by_side(access, sizeof(M)) &&
      machine.memory->claim_run(access.addresses[0], sizeof(M), access.count)) {
    M* __restrict to = reinterpret_cast<M*>(
        machine.memory->reach_run(access.addresses[0], sizeof(M), access.count));
    for (std::uint32_t k = 0; k < access.count; ++k) to[k] = Format::store(values[k]);
    return;
  }
  for (std::uint32_t nth = 0; nth < access.count; ++nth) {
    const std::uint32_t k = machine.lanes_backwards ? access.count - 1 - nth : nth;
    if (access.mask != nullptr && access.mask[k] == 0) continue;
    std::byte* to =
        machine.memory->reach(access.addresses[k], sizeof(M), ViolationKind::store, instruction);
    if (to == nullptr) continue;
    const M value = Format::store(values[k]);
    machine.memory->will_write(to, &value, access.addresses[k], sizeof(M), instruction);
    if (machine.hidden_stores)
      machine.hidden_stores->add(access.addresses[k], to, sizeof(M), {k, access.count});
    std::memcpy(to, &value, sizeof value);
  }
}

template <typename T>
void add_pointer(Machine& machine, const Instruction& instruction) {
  std::int64_t* __restrict out = machine.output<std::int64_t>(instruction);
  const std::int64_t* base = machine.input<std::int64_t>(instruction, 0);
  const T* offsets = machine.input<T>(instruction, 1);
  const auto bytes = static_cast<std::uint64_t>(instruction.immediate);
  for (std::uint32_t k = 0; k < instruction.count; ++k)
    out[k] = static_cast<std::int64_t>(
        static_cast<std::uint64_t>(base[k]) +
        static_cast<std::uint64_t>(static_cast<std::int64_t>(offsets[k])) * bytes);
}

struct Access {
  Handler load = nullptr, store = nullptr;
};

template <typename M, typename R = M, typename Format = Same>
Access access_of() {
  return {load<M, R, Format>, store<M, R, Format>};
}

Access access(Element element) {
  switch (element) {
    case Element::i1:
      return access_of<std::uint8_t, std::uint8_t, Bool>();
    case Element::i8:
      return access_of<std::uint8_t>();
    case Element::i16:
      return access_of<std::uint16_t>();
    case Element::i32:
    case Element::f32:
      return access_of<std::uint32_t>();
    case Element::i64:
    case Element::f64:
      return access_of<std::uint64_t>();
    case Element::f16:
      return access_of<std::uint16_t, float, Half>();
    case Element::bf16:
      return access_of<std::uint16_t, float, Brain>();
    case Element::f8e5m2:
      return access_of<std::uint8_t, float, Eighth<Element::f8e5m2>>();
    case Element::f8e4m3fn:
      return access_of<std::uint8_t, float, Eighth<Element::f8e4m3fn>>();
    case Element::f8e4m3fnuz:
      return access_of<std::uint8_t, float, Eighth<Element::f8e4m3fnuz>>();
    case Element::f8e5m2fnuz:
      return access_of<std::uint8_t, float, Eighth<Element::f8e5m2fnuz>>();
    case Element::f8e4m3b11fnuz:
      return access_of<std::uint8_t, float, Eighth<Element::f8e4m3b11fnuz>>();
    default:
      return {};
  }
}

}  // namespace

void barrier(Machine& machine, const Instruction& /*instruction*/) { machine.show_stores(); }

Handler load_handler(Element element) { return access(element).load; }
Handler store_handler(Element element) { return access(element).store; }

Handler add_pointer_handler(Element offset) {
  switch (offset) {
    case Element::i8:
      return add_pointer<std::int8_t>;
    case Element::i16:
      return add_pointer<std::int16_t>;
    case Element::i32:
      return add_pointer<std::int32_t>;
    case Element::i64:
      return add_pointer<std::int64_t>;
    default:
      return nullptr;
  }
}

}  // namespace tritonsmith::gym::triton_ir
