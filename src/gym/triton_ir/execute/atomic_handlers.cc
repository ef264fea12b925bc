// Atomics run element by element, in order, and no two programs run at once. A result that depends
// on the order of programs shows when the program scheduler uses another order.
#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"
#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

struct Half {
  using Memory = std::uint16_t;
  using Number = float;
  static float load(std::uint16_t value) { return f16_value(value); }
  static std::uint16_t store(float value) { return f16_bits(round_to_f16(value)); }
};
struct Brain {
  using Memory = std::uint16_t;
  using Number = float;
  static float load(std::uint16_t value) { return bf16_value(value); }
  static std::uint16_t store(float value) { return bf16_bits(round_to_bf16(value)); }
};
template <typename T>
struct Plain {
  using Memory = T;
  using Number = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

// Applies the instruction's memory order at its begin and at its end.
class Ordered {
 public:
  Ordered(Machine& machine, const Instruction& instruction, const std::uint8_t* mask)
      : memory_(*machine.memory), order_(static_cast<MemoryOrder>(instruction.immediate)) {
    machine.show_stores();
    std::uint32_t first = 0;
    while (first < instruction.count && mask != nullptr && mask[first] == 0) ++first;
    if (first == instruction.count)
      order_ = MemoryOrder::relaxed;
    else
      address_ = machine.input<std::int64_t>(instruction, 0)[first];
    memory_.begin_atomic(address_, order_);
  }
  ~Ordered() { memory_.end_atomic(address_, order_); }
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;

 private:
  Memory& memory_;
  MemoryOrder order_;
  std::int64_t address_ = 0;
};

template <typename Format, auto function>
void atomic(Machine& machine, const Instruction& instruction) {
  using Number = typename Format::Number;
  const std::int64_t* addresses = machine.input<std::int64_t>(instruction, 0);
  const Number* values = machine.input<Number>(instruction, 1);
  const std::uint8_t* mask =
      instruction.inputs[2] != kNone ? machine.input<std::uint8_t>(instruction, 2) : nullptr;
  Number* out = machine.output<Number>(instruction);
  if (machine.is_held_up()) return;
  const Ordered ordered(machine, instruction, mask);
  for (std::uint32_t k = 0; k < instruction.count; ++k) {
    out[k] = Number{0};
    if (mask != nullptr && mask[k] == 0) continue;
    typename Format::Memory stored;
    std::byte* target =
        machine.memory->reach(addresses[k], sizeof stored, ViolationKind::atomic, instruction);
    if (target == nullptr) continue;
    machine.memory->will_change_atomically(addresses[k], sizeof stored, instruction);
    std::memcpy(&stored, target, sizeof stored);
    out[k] = Format::load(stored);
    stored = Format::store(function(out[k], values[k]));
    std::memcpy(target, &stored, sizeof stored);
  }
}

template <typename T>
void compare_and_swap(Machine& machine, const Instruction& instruction) {
  const std::int64_t* addresses = machine.input<std::int64_t>(instruction, 0);
  const T* expected = machine.input<T>(instruction, 1);
  const T* desired = machine.input<T>(instruction, 2);
  T* out = machine.output<T>(instruction);
  if (machine.is_held_up()) return;
  const Ordered ordered(machine, instruction, nullptr);
  for (std::uint32_t k = 0; k < instruction.count; ++k) {
    out[k] = T{0};
    std::byte* target =
        machine.memory->reach(addresses[k], sizeof(T), ViolationKind::atomic, instruction);
    if (target == nullptr) continue;
    machine.memory->will_change_atomically(addresses[k], sizeof(T), instruction);
    std::memcpy(&out[k], target, sizeof(T));
    if (std::memcmp(&out[k], &expected[k], sizeof(T)) == 0)
      std::memcpy(target, &desired[k], sizeof(T));
  }
}

constexpr auto kAdd = []<class T>(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
};
constexpr auto kMax = [](auto a, auto b) { return std::max(a, b); };
constexpr auto kMin = [](auto a, auto b) { return std::min(a, b); };
constexpr auto kExchange = [](auto, auto b) { return b; };

template <typename T>
Handler integer_handler(std::string_view operation) {
  using U = std::make_unsigned_t<T>;
  if (operation == "add") return atomic<Plain<T>, kAdd>;
  if (operation == "and") return atomic<Plain<T>, [](T a, T b) { return static_cast<T>(a & b); }>;
  if (operation == "or") return atomic<Plain<T>, [](T a, T b) { return static_cast<T>(a | b); }>;
  if (operation == "xor") return atomic<Plain<T>, [](T a, T b) { return static_cast<T>(a ^ b); }>;
  if (operation == "max") return atomic<Plain<T>, kMax>;
  if (operation == "min") return atomic<Plain<T>, kMin>;
  if (operation == "umax") return atomic<Plain<U>, kMax>;
  if (operation == "umin") return atomic<Plain<U>, kMin>;
  if (operation == "exch") return atomic<Plain<T>, kExchange>;
  return nullptr;
}

template <typename Format>
Handler float_handler(std::string_view operation) {
  if (operation == "fadd") return atomic<Format, kAdd>;
  if (operation == "max") return atomic<Format, kMax>;
  if (operation == "min") return atomic<Format, kMin>;
  if (operation == "exch") return atomic<Format, kExchange>;
  return nullptr;
}

}  // namespace

Handler atomic_handler(std::string_view operation, Element element) {
  switch (element) {
    case Element::i8:
      return integer_handler<std::int8_t>(operation);
    case Element::i16:
      return integer_handler<std::int16_t>(operation);
    case Element::i32:
      return integer_handler<std::int32_t>(operation);
    case Element::i64:
      return integer_handler<std::int64_t>(operation);
    case Element::f16:
      return float_handler<Half>(operation);
    case Element::bf16:
      return float_handler<Brain>(operation);
    case Element::f32:
      return float_handler<Plain<float>>(operation);
    case Element::f64:
      return float_handler<Plain<double>>(operation);
    default:
      return nullptr;
  }
}

Handler compare_and_swap_handler(Element element) {
  switch (element) {
    case Element::i32:
      return compare_and_swap<std::int32_t>;
    case Element::i64:
      return compare_and_swap<std::int64_t>;
    case Element::i16:
      return compare_and_swap<std::int16_t>;
    case Element::f32:
      return compare_and_swap<float>;
    case Element::f64:
      return compare_and_swap<double>;
    default:
      return nullptr;
  }
}

}  // namespace tritonsmith::gym::triton_ir
